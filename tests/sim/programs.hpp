// Owns what programs do to the simulated machine. It knows exactly the argument vectors that the configurators emit.
#pragma once
#include "agent/model/plan.hpp"
#include "tests/sim/host.hpp"

namespace nvstripe::sim {

class Programs {
 public:
  explicit Programs(Host& host) : host_(host) {}
  [[nodiscard]] Result<> run(const Run& run);
  void run_torn(const Run& run);  // a part of it, as when the machine dies meanwhile

 private:
  struct Words;  // the arguments, taken one by one; what is left over ends the test
  [[nodiscard]] Result<> mdadm(Words& words);
  [[nodiscard]] Result<> mdadm_create(Words& words);
  [[nodiscard]] Result<> mdadm_assemble(Words& words);
  [[nodiscard]] Result<> mkfs(Words& words);
  [[nodiscard]] Result<> wipefs(Words& words);
  [[nodiscard]] Result<> pvcreate(Words& words);
  [[nodiscard]] Result<> vgcreate(Words& words);
  [[nodiscard]] Result<> vgremove(Words& words);
  [[nodiscard]] Result<> lvcreate(Words& words);
  [[nodiscard]] Result<> activate(Words& words, bool group);
  [[nodiscard]] Result<> systemctl(Words& words);
  [[nodiscard]] Result<> start(const std::string& unit);
  [[nodiscard]] Result<> stop(const std::string& unit);
  [[nodiscard]] MediaPtr to_write(const DeviceKey& key, const std::string& program);
  [[nodiscard]] Group* group(const std::string& name);

  Host& host_;
  enum class Extent { whole, torn } extent_ = Extent::whole;
};

}  // namespace nvstripe::sim
