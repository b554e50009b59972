// Owns the steps that need more than a change to a file: programs, attributes of devices, controllers, last looks, waiting.
#include <poll.h>

#include <algorithm>
#include <set>

#include "agent/engine/machine.hpp"
#include "agent/engine/planner.hpp"
#include "agent/host/block_node.hpp"
#include "agent/host/fabrics.hpp"
#include "agent/host/tools.hpp"

namespace nvstripe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr FacetSet kDeviceFacets = FacetName::blocks | FacetName::controllers | FacetName::mounts;
constexpr std::chrono::seconds kLockDeadline{20};

std::vector<Signature> sorted(std::vector<Signature> signatures) {
  std::sort(signatures.begin(), signatures.end());
  return signatures;
}

std::string listed(const std::vector<Signature>& signatures) {
  std::string text;
  for (const auto& one : signatures) {
    text += (text.empty() ? "" : ", ") + one.type;
    if (!one.uuid.empty()) text += " " + one.uuid;
  }
  return text.empty() ? "nothing" : "'" + text + "'";
}

std::vector<std::string> exported_paths(const TargetConfiguration& exports) {
  std::vector<std::string> paths;
  for (const auto& subsystem : exports.subsystems) {
    for (const auto& one : subsystem.namespaces) {
      if (!one.device_path.empty()) paths.push_back(one.device_path);
    }
  }
  return paths;
}

}  // namespace

// ---- programs
// -------------------------------------------------------------------------------------------------------------

Result<std::vector<Fd>> Machine::lock(const Inventory& seen, const std::vector<DeviceKey>& keys) {
  std::set<std::string> paths;  // sorted, so that two holders never wait for each other
  for (const auto& key : keys) {
    const BlockDevice* device = seen.find(key);
    if (device != nullptr && !device->parent.empty()) device = seen.find(device->parent);  // udev locks the whole disk
    if (device != nullptr) paths.insert(path_of(*device));  // what is not there yet has no events to wait
  }
  std::vector<Fd> locks;
  const auto due = Clock::now() + kLockDeadline;
  for (const auto& path : paths) {
    TRY(Fd fd, host::lock_node(path, due));
    locks.push_back(std::move(fd));
  }
  return locks;
}

Result<> Machine::run(const Run& step) {
  host::Command command;
  command.deadline = step.deadline;
  std::vector<std::string> written = {};  // device numbers that may carry something else afterwards
  const bool any_device = !step.udev_lock.empty() ||
                          std::any_of(step.argv.begin(), step.argv.end(),
                                      [](const Arg& argument) { return std::holds_alternative<DeviceRef>(argument); });
  const Inventory seen = any_device ? fresh(kDeviceFacets) : Inventory{};
  for (const auto& argument : step.argv) {
    if (const auto* text = std::get_if<std::string>(&argument)) {
      command.argv.push_back(*text);
      continue;
    }
    TRY(const Found found, find(seen, std::get<DeviceRef>(argument).key));
    command.argv.push_back(found.path);
    written.push_back(found.device.device_number);
  }
  for (const auto& key : step.udev_lock) {
    if (const auto* device = seen.find(key)) written.push_back(device->device_number);
  }
  TRY(const std::vector<Fd> locks, lock(seen, step.udev_lock));
  const auto result = parts_.runner->run(command);
  for (const auto& number : written) parts_.looker.forget(number);
  looked_now_.clear();
  if (!result) return tl::unexpected(result.error());
  const bool fine = !result->timed_out &&
                    std::find(step.ok_exits.begin(), step.ok_exits.end(), result->exit_status) != step.ok_exits.end();
  if (!fine) return tl::unexpected(host::explain(command.argv, *result));
  return {};
}

// ---- attributes
// -----------------------------------------------------------------------------------------------------------

Result<> Machine::write_attribute(const WriteAttribute& step) {
  std::string value = step.value;
  std::vector<std::string> paths = {step.path};
  if (step.device || step.value_device) {
    const Inventory seen = fresh(kDeviceFacets);
    if (step.value_device) {
      TRY(const Found found, find(seen, *step.value_device));
      value = found.path;
    }
    if (step.device) {
      TRY(const Found found, find(seen, *step.device));
      const auto& names = step.of_paths ? found.device.paths : std::vector<std::string>{found.device.kernel_name};
      paths.clear();
      for (const auto& name : names) paths.push_back(parts_.sys_block + "/" + name + "/" + step.path);
    }
  }
  for (const auto& path : paths) {
    auto written = hands_.write_attribute(path, value);
    if (!written && step.if_present && is_errno(written.error(), ENOENT)) continue;
    if (!written) return written;
  }
  return {};
}

// ---- controllers
// ----------------------------------------------------------------------------------------------------------

Result<> Machine::connect(const Connect& step) {
  const Inventory seen = fresh(static_cast<FacetSet>(FacetName::controllers));
  if (!seen.controllers.is_known())
    return fail("cannot see the NVMe controllers: " + seen.controllers.reason(), "see 'nvstripe status'");
  // Whatever its state: a second one to the same port would be made when one option differs.
  const auto* there = host::find_controller(seen.controllers.value(), step.nqn, step.transport, step.traddr, step.trsvcid);
  if (there != nullptr && there->state.starts_with("deleting")) {
    return fail("the controller of '" + step.nqn + "' at '" + step.traddr + "' is just being deleted", "it is tried again");
  }
  if (there != nullptr) return {};
  const auto made = hands_.connect(step);
  if (!made) {
    if (parts_.targets != nullptr) parts_.targets->ask_again();
    return tl::unexpected(made.error());
  }
  return {};
}

Result<> Machine::disconnect(const Disconnect& step) {
  const Inventory seen = fresh(static_cast<FacetSet>(FacetName::controllers));
  if (!seen.controllers.is_known())
    return fail("cannot see the NVMe controllers: " + seen.controllers.reason(), "see 'nvstripe status'");
  const auto* there = host::find_controller(seen.controllers.value(), step.nqn, step.transport, step.traddr, step.trsvcid);
  if (there == nullptr) return {};
  return hands_.delete_controller({there->kernel_name, step.nqn, step.transport, there->traddr, step.trsvcid},
                                  step.deadline);
}

// ---- last looks
// -----------------------------------------------------------------------------------------------------------

std::string content_objection(const host::LookAnswer& answer, const RequireContent& step) {
  if (answer.look == Look::unknown) return "what it carries cannot be read: " + answer.reason;
  const bool as_expected = sorted(answer.signatures) == sorted(step.expected);
  if (!as_expected) return "it carries " + listed(answer.signatures) + " and not " + listed(step.expected);
  // Ambiguous is never none; with acceptance it may be overwritten as exactly what was shown.
  if (answer.look == Look::ambiguous && !(step.any_content && !step.expected.empty()))
    return "what it carries is ambiguous: " + answer.reason;
  if (step.expected.empty() && !step.any_content && answer.content != Content::zero)
    return "it carries data without a signature";
  return {};
}

Result<host::LookAnswer> Machine::look_now(const Found& found) {
  const auto known = looked_now_.find(found.device.device_number);
  if (known != looked_now_.end()) return known->second;
  const auto answers = parts_.look_now({{found.device.device_number, found.path}}, host::Looker::kDeadline);
  const auto answer = answers.find(found.device.device_number);
  if (answer == answers.end()) return fail("no look at '" + found.device.key.text + "' was had", "it is tried again");
  return answer->second;
}

Result<> Machine::require_content(const RequireContent& step) {
  // Once for all of them, after their contents were read: each device is then held to what its own open node says.
  if (!last_seen_) last_seen_ = fresh(kDeviceFacets | FacetName::exports);
  const Inventory& seen = *last_seen_;
  TRY(const Found found, find(seen, step.device));
  const std::string what = "device '" + step.device.text + "' is not written: ";
  const std::string remedy = "see 'nvstripe devices'; nothing was changed on it";
  if (step.diskseq != 0 && found.device.diskseq != step.diskseq)
    return fail(what + "it is another disk than the one planned for", remedy);
  if (const auto why = host::not_asked(found.device, seen); !why.empty()) return fail(what + why, remedy);
  if (!found.device.holders.empty())
    return fail(what + "'" + found.device.holders.front().text + "' is stacked on it", remedy);
  if (!seen.exports.is_known())
    return fail(what + "the nvmet configuration cannot be seen: " + seen.exports.reason(), remedy);
  // nvmet claims nothing: an exclusive open of an exported drive succeeds.
  if (host::leads_to(exported_paths(seen.exports.value()), found.device.device_number))
    return fail(what + "it is exported", remedy);
  TRY(const host::LookAnswer answer, look_now(found));
  if (const auto why = content_objection(answer, step); !why.empty()) return fail(what + why, remedy);
  // The plain descriptor first: from here on the node is this disk and no other, whatever is unplugged.
  TRY(Fd plain, host::open_node(found.path, found.device.device_number, step.diskseq));
  CHECKED(host::check_exclusive(found.path));
  held_.push_back(std::move(plain));
  return {};
}

// ---- waiting
// --------------------------------------------------------------------------------------------------------------

Result<> Machine::await(const Await& step) {
  const FacetSet wanted = facets_of(step.fact);
  const bool signatures = step.fact.starts_with("fs:");
  const auto due = Clock::now() + step.deadline;
  // Mounts and attributes come without an event; so every wait is short, and longer the longer it lasts.
  std::chrono::milliseconds pause{20};
  for (;;) {
    Inventory seen = fresh(wanted);
    if (signatures) parts_.looker.fill(seen, Clock::now());
    if (holds(step.fact, seen)) return {};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now());
    if (left.count() <= 0) break;
    const auto wait = std::min(pause, left);
    if (parts_.uevents == nullptr) {
      (void)::poll(nullptr, 0, static_cast<int>(wait.count()));
    } else {
      parts_.uevents->wait(wait);
    }
    pause = std::min(pause * 2, std::chrono::milliseconds(320));
  }
  return fail_errno("'" + step.fact + "' did not come about within " + std::to_string(step.deadline.count()) + " s",
                    ETIMEDOUT, "see 'nvstripe status' and the kernel log; it is tried again");
}

}  // namespace nvstripe
