// Tests that no damage of a spec makes the reader crash, hang or make things up. The same mutations in every run.
#include <cstdint>

#include "agent/model/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/spec_samples.hpp"

#include <boost/json.hpp>

namespace nvstripe {
namespace {

struct Dice {  // xorshift64: the same on every machine
  std::uint64_t state;
  std::size_t below(std::size_t limit) {
    state ^= state << 13u;
    state ^= state >> 7u;
    state ^= state << 17u;
    return static_cast<std::size_t>(state % limit);
  }
};

// Whatever was read: either errors with a place and a remedy and nothing else, or a spec that reads back equal.
bool reads_well(const std::string& text) {
  const SpecReading reading = samples::load(text);
  bool fine = true;
  for (const SpecError& error : reading.errors) {
    fine = fine && !error.what.empty() && !error.remedy.empty() && error.place.line >= 1 && error.place.column >= 1;
  }
  if (reading.errors.empty()) {
    const SpecReading again = samples::load(json::text(json::to_json(reading.spec)));
    fine = fine && again.errors.empty() && again.spec == reading.spec;
  } else {
    fine = fine && reading.spec == Spec{};
  }
  return fine;
}

}  // namespace

TEST_CASE("a spec cut off at any byte is read or refused, and never crashes") {
  for (std::size_t length = 0; length <= samples::kFull.size(); ++length) {
    if (reads_well(samples::kFull.substr(0, length))) continue;
    CAPTURE(length);
    CHECK(false);
  }
  CHECK(reads_well(samples::kFull));
}

TEST_CASE("a spec with flipped, exchanged, doubled or inserted bytes is read or refused, and never crashes") {
  constexpr std::string_view kOdd = "[]{}:,-&*!|>'\"%@`#?~<\n\t \x01\xff";
  Dice dice{20261130};
  for (int round = 0; round < 3000; ++round) {
    std::string text = samples::kFull;
    const std::size_t changes = 1 + dice.below(3);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t at = dice.below(text.size()), length = 1 + dice.below(40);
      switch (dice.below(5)) {
        case 0:
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1u << dice.below(8)));
          break;
        case 1:
          text[at] = kOdd[dice.below(kOdd.size())];
          break;
        case 2:
          text.insert(at, 1, kOdd[dice.below(kOdd.size())]);
          break;
        case 3:
          text.insert(at, text.substr(dice.below(text.size()), length));
          break;
        default:
          text.erase(at, length);
          break;
      }
      if (text.empty()) text = "x";
    }
    if (reads_well(text)) continue;
    CAPTURE(text);
    CHECK(false);
  }
  CHECK(reads_well(samples::kFull));
}

}  // namespace nvstripe
