// Owns the real World: looks through the collectors, performs steps through the hands, programs and children. It decides
// nothing; kernel names exist here between a fresh look and the call that uses them, and nowhere longer (law 8).
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/engine/observe.hpp"
#include "agent/engine/world.hpp"
#include "agent/host/command.hpp"
#include "agent/host/hands.hpp"
#include "agent/host/looker.hpp"
#include "agent/host/reader.hpp"
#include "agent/host/targets.hpp"
#include "agent/host/uevents.hpp"

namespace nvstripe {

struct MachineParts {
  std::unique_ptr<host::Reader> reader;
  host::Runner* runner = nullptr;           // nullptr: the live one
  host::TargetWatch* targets = nullptr;     // not owned; nullptr: the targets facet is unavailable
  std::unique_ptr<host::Uevents> uevents;   // for waiting; nullptr: facts are looked for at intervals
  std::function<Facet<Records>()> records;  // so that the identity in force is known; empty: unavailable
  host::Looker looker{};
  std::function<void(const host::Reader&, const Spec&, FacetSet, Inventory&)> observe = observe_into;
  host::LookAnswers (*look_now)(const std::vector<host::LookAsked>&, std::chrono::milliseconds) = host::look_in_child;
  std::string dev = "/dev", sys_block = "/sys/block";
};

class Machine : public World {
 public:
  explicit Machine(MachineParts parts);
  [[nodiscard]] Inventory look(const Spec& spec, FacetSet wanted) override;
  void begin_action(const Action& action) override;
  void end_action() override;
  [[nodiscard]] Result<> perform(const Step& step) override;

 private:
  struct Found {  // a device as a fresh look shows it
    BlockDevice device;
    std::string path;
  };
  struct Performer;

  [[nodiscard]] Inventory fresh(FacetSet wanted);  // without signatures, and not kept
  void follow_targets(const Spec& spec, Inventory& seen);
  void notice_losses(const Inventory& seen);
  [[nodiscard]] Result<Found> find(const Inventory& seen, const DeviceKey& key) const;
  [[nodiscard]] std::string path_of(const BlockDevice& device) const;

  [[nodiscard]] Result<> run(const Run& step);
  [[nodiscard]] Result<std::vector<Fd>> lock(const Inventory& seen, const std::vector<DeviceKey>& keys);
  [[nodiscard]] Result<> write_attribute(const WriteAttribute& step);
  [[nodiscard]] Result<> connect(const Connect& step);
  [[nodiscard]] Result<> disconnect(const Disconnect& step);
  [[nodiscard]] Result<> require_content(const RequireContent& step);
  [[nodiscard]] Result<host::LookAnswer> look_now(const Found& found);
  [[nodiscard]] Result<> await(const Await& step);

  MachineParts parts_;
  host::Hands hands_;
  Spec spec_;
  Inventory last_;
  std::vector<Fd> held_;                                // until end_action
  std::map<std::string, host::LookAnswer> looked_now_;  // by device number, until something runs
  std::optional<Inventory> last_seen_;                  // what all last looks in a row are judged by
};

// What a look must say for a write to be allowed; empty: it may. Pure.
[[nodiscard]] std::string content_objection(const host::LookAnswer& answer, const RequireContent& step);

}  // namespace nvstripe
