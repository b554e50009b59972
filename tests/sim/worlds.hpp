// Owns random machines: drives in every state that a real machine has shown, foreign arrays, groups, mounts, controllers and
// exports, and a spec that wants more or less of them. The same seed gives the same machine on every platform.
#pragma once
#include <cstdint>

#include "tests/sim/bench.hpp"

namespace nvstripe::sim {

class Dice {  // SplitMix64
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  unsigned below(unsigned bound) { return static_cast<unsigned>(next() % bound); }
  bool one_in(unsigned count) { return below(count) == 0; }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[next() % i]);
  }

 private:
  std::uint64_t state_;
};

void make_world(Bench& bench, Dice& dice);
// Devices that no action may name: system, foreign, unknown, or anything else the guard excludes now.
[[nodiscard]] std::set<DeviceKey> forbidden(const Bench& bench);
// The same sight in another order.
void shuffle(Inventory& seen, Dice& dice);

}  // namespace nvstripe::sim
