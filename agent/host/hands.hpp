// Owns the hands: one child that performs changes to files and the writes to /dev/nvme-fabrics, one after another, and is
// given up when it does not answer in time, because an attribute of a dead drive may sleep in the kernel without bound.
// It is started when needed and ends itself when idle.
#pragma once
#include <chrono>
#include <string>

#include "agent/base/fd.hpp"
#include "agent/base/result.hpp"
#include "agent/model/plan.hpp"

namespace nvstripe::host {

// Steps as the hands perform them: device references are resolved already.
struct DeleteController {  // verified by the child to be the one meant, just before
  std::string name, nqn, transport, traddr, trsvcid;
};

class Hands {
 public:
  static constexpr std::chrono::seconds kFileDeadline{20};

  Hands() = default;
  Hands(const Hands&) = delete;
  Hands& operator=(const Hands&) = delete;
  ~Hands() { let_go(); }

  [[nodiscard]] Result<> write_attribute(const std::string& path, const std::string& value,
                                         std::chrono::milliseconds deadline = kFileDeadline);
  [[nodiscard]] Result<> put_file(const PutFile& step);
  [[nodiscard]] Result<> make_dir(const std::string& path);
  [[nodiscard]] Result<> make_mount_point(const std::string& path);
  [[nodiscard]] Result<> make_link(const std::string& target, const std::string& path);
  [[nodiscard]] Result<> remove_path(const std::string& path);
  [[nodiscard]] Result<> set_owner(const SetOwner& step);
  [[nodiscard]] Result<std::string> connect(const Connect& step);  // the controller's kernel name; empty: was there already
  [[nodiscard]] Result<> delete_controller(const DeleteController& step, std::chrono::milliseconds deadline);

  void let_go();  // ends the child; it finishes what it is doing

 private:
  [[nodiscard]] Result<> start();
  // One request line, one answer line.
  [[nodiscard]] Result<std::string> ask(const std::string& request, std::chrono::milliseconds deadline,
                                        const std::string& what);
  [[nodiscard]] Result<std::string> answer_until(std::chrono::steady_clock::time_point due);
  void give_up();

  pid_t pid_ = -1;
  Fd to_child_;
  std::string pending_;
  std::chrono::steady_clock::time_point used_{};
};

}  // namespace nvstripe::host
