// Owns looking, finding devices by key, and handing each step to what performs it.
#include "agent/engine/machine.hpp"

#include <algorithm>

#include "agent/engine/planner.hpp"
#include "agent/host/block_node.hpp"
#include "agent/host/fabrics.hpp"

namespace nvstripe {
namespace {

bool is_fabric(const NvmeController& controller) {
  return (controller.transport == "tcp" || controller.transport == "rdma") &&
         controller.subsystem_nqn != host::kDiscoveryNqn;
}

bool same_controller(const NvmeController& a, const NvmeController& b) {
  return a.subsystem_nqn == b.subsystem_nqn && a.transport == b.transport && a.traddr == b.traddr && a.trsvcid == b.trsvcid;
}

}  // namespace

Machine::Machine(MachineParts parts) : parts_(std::move(parts)) {
  if (parts_.runner == nullptr) parts_.runner = &host::live_runner();
}

Inventory Machine::look(const Spec& spec, FacetSet wanted) {
  spec_ = spec;
  const bool whole = wanted == kAllFacets;
  wanted = read_together(wanted);  // a device that is read anew is looked at anew
  Inventory seen = whole ? Inventory{} : last_;
  if (parts_.records) seen.records = parts_.records();
  parts_.observe(*parts_.reader, spec, wanted, seen);
  if (contains(wanted, FacetName::blocks)) parts_.looker.fill(seen, std::chrono::steady_clock::now());
  if (whole) follow_targets(spec, seen);
  notice_losses(seen);
  if (parts_.targets != nullptr) seen.targets = Facet<std::vector<TargetView>>::known(parts_.targets->views());
  last_ = seen;
  return seen;
}

Inventory Machine::fresh(FacetSet wanted) {
  Inventory seen = last_;
  parts_.observe(*parts_.reader, spec_, read_together(wanted), seen);
  return seen;
}

void Machine::follow_targets(const Spec& spec, Inventory& seen) {
  if (parts_.targets == nullptr) return;
  const Uuid host = seen.host();
  // Without an identity nothing is discovered: a log read under a passing name would remember it in the kernel.
  const bool known = seen.identity.is_known() && !host.is_none();
  const std::string id = known ? to_text(host) : std::string();
  parts_.targets->follow(spec.connections, known ? "nqn.2014-08.org.nvmexpress:uuid:" + id : std::string(), id);
}

// A controller that is gone or has left the live state: what its target offers now is asked at once.
void Machine::notice_losses(const Inventory& seen) {
  if (parts_.targets == nullptr || !last_.controllers.is_known() || !seen.controllers.is_known()) return;
  for (const auto& before : last_.controllers.value()) {
    if (!is_fabric(before) || before.state != "live") continue;
    const auto& all = seen.controllers.value();
    const bool live = std::any_of(all.begin(), all.end(), [&](const NvmeController& now) {
      return same_controller(now, before) && now.state == "live";
    });
    if (!live) return parts_.targets->ask_again();
  }
}

std::string Machine::path_of(const BlockDevice& device) const {
  std::string name = device.kernel_name;
  std::replace(name.begin(), name.end(), '!', '/');  // the kernel writes a name with '/' so
  return parts_.dev + "/" + name;
}

Result<Machine::Found> Machine::find(const Inventory& seen, const DeviceKey& key) const {
  if (!seen.blocks.is_known()) return fail("cannot see the block devices: " + seen.blocks.reason(), "see 'nvstripe status'");
  const BlockDevice* device = seen.find(key);
  if (device == nullptr)
    return fail("device '" + key.text + "' is not there", "it is looked for again",
                std::error_code(ENODEV, std::system_category()));
  if (device->ambiguous_key) return fail("two devices call themselves '" + key.text + "'", "neither is used; take one out");
  Found found{*device, path_of(*device)};
  CHECKED(host::check_node(found.path, device->device_number));
  return found;
}

void Machine::begin_action(const Action& action) {
  held_.clear();
  last_seen_.reset();
  looked_now_.clear();
  // One child looks at all devices that this action is going to write, side by side.
  std::vector<host::LookAsked> asked;
  const bool any = std::any_of(action.steps.begin(), action.steps.end(),
                               [](const Step& step) { return std::holds_alternative<RequireContent>(step); });
  if (!any) return;
  const Inventory seen = fresh(static_cast<FacetSet>(FacetName::blocks));
  for (const auto& step : action.steps) {
    const auto* required = std::get_if<RequireContent>(&step);
    if (required == nullptr) continue;
    const auto found = find(seen, required->device);
    if (found && host::not_asked(found->device, seen).empty()) asked.push_back({found->device.device_number, found->path});
  }
  looked_now_ = parts_.look_now(asked, host::Looker::kDeadline);
}

void Machine::end_action() {
  held_.clear();
  last_seen_.reset();
  looked_now_.clear();
}

struct Machine::Performer {
  Machine& machine;
  Result<> operator()(const Run& step) { return machine.run(step); }
  Result<> operator()(const WriteAttribute& step) { return machine.write_attribute(step); }
  Result<> operator()(const PutFile& step) { return machine.hands_.put_file(step); }
  Result<> operator()(const MakeDir& step) { return machine.hands_.make_dir(step.path); }
  Result<> operator()(const MakeMountPoint& step) { return machine.hands_.make_mount_point(step.path); }
  Result<> operator()(const Link& step) { return machine.hands_.make_link(step.target, step.path); }
  Result<> operator()(const Remove& step) { return machine.hands_.remove_path(step.path); }
  Result<> operator()(const SetOwner& step) { return machine.hands_.set_owner(step); }
  Result<> operator()(const Connect& step) { return machine.connect(step); }
  Result<> operator()(const Disconnect& step) { return machine.disconnect(step); }
  Result<> operator()(const RequireContent& step) { return machine.require_content(step); }
  Result<> operator()(const Await& step) { return machine.await(step); }
};

Result<> Machine::perform(const Step& step) {
  if (!std::holds_alternative<RequireContent>(step)) last_seen_.reset();
  return std::visit(Performer{*this}, step);
}

}  // namespace nvstripe
