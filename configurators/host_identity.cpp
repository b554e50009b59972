// Owns the comparison of the recorded identity with what spec, DMI and machine-id say now.
#include "configurators/host_identity.hpp"

#include "agent/base/text.hpp"

namespace nvstripe::configure {
namespace {

Conflict conflict(std::string id, std::string why, std::string remedy, Standing standing) {
  return {"host identity", "identity", std::move(why), std::move(remedy), standing, std::move(id)};
}

std::string source_of(const Spec& spec, const HostIdentity& found) {
  if (spec.node.host_id) return "spec";
  return found.product_uuid.empty() ? "machine_id" : "dmi";
}

std::string source_text(const std::string& source) {
  if (source == "spec") return "node.host_id of the spec";
  return source == "dmi" ? "DMI's product UUID" : "machine-id";
}

Conflict mismatch(const IdentityRecord& recorded, const Uuid& wanted, const std::string& source) {
  return conflict("identity.mismatch",
                  "this machine was recorded as '" + to_text(recorded.host) + "' (from " + source_text(recorded.source) +
                      "), and " + source_text(source) + " now says '" + to_text(wanted) +
                      "': a clone, a moved disk, or a changed spec",
                  "run 'nvstripe identity adopt' if this machine is to go on under the new identity; until then nothing is "
                  "connected, exported or written",
                  Standing::refused);
}

}  // namespace

std::string hostnqn_of(const Uuid& host) { return "nqn.2014-08.org.nvmexpress:uuid:" + to_text(host); }
Fact identity_fact(const Inventory& seen) { return "identity:" + to_text(seen.host()); }

std::optional<Conflict> identity_conflict(const Spec& spec, const Inventory& seen) {
  const HostIdentity& found = seen.identity.value();
  const auto& recorded = seen.records.value().identity;
  const Uuid wanted = spec.node.host_id ? *spec.node.host_id : found.computed;
  if (wanted.is_none()) {
    if (recorded && recorded->source == "spec") return std::nullopt;  // the spec settled it once, and says nothing else now
    return conflict("identity.unknown", "neither DMI nor machine-id tells which machine this is",
                    "set 'node.host_id' in the spec, or make /etc/machine-id", Standing::waiting);
  }
  if (!recorded || recorded->host == wanted) return std::nullopt;
  // A product UUID that cannot be read now is missing information, and the machine-id instead of it is no answer (law 9).
  if (!spec.node.host_id && recorded->source == "dmi" && found.product_uuid.empty()) {
    return conflict("identity.unknown", "the identity was recorded from DMI, which cannot be read now",
                    "make /sys/class/dmi/id/product_uuid readable, or run 'nvstripe identity adopt'", Standing::waiting);
  }
  return mismatch(*recorded, wanted, source_of(spec, found));
}

bool identity_settled(const Spec& spec, const Inventory& seen) {
  return seen.identity.is_known() && seen.records.is_known() && !identity_conflict(spec, seen);
}

Draft plan_host_identity(const Spec& spec, const Inventory& seen) {
  Draft out;
  if (auto found = identity_conflict(spec, seen)) {
    out.conflicts.push_back(std::move(*found));
    return out;
  }
  const HostIdentity& found = seen.identity.value();
  const std::string hostnqn = hostnqn_of(seen.host());
  if (!found.hostnqn_file.empty() && found.hostnqn_file != hostnqn) {
    out.conflicts.push_back(conflict(
        "identity.foreign_hostnqn",
        "/etc/nvme/hostnqn says '" + printable(found.hostnqn_file) + "', and nvstripe connects as '" + hostnqn + "'",
        "nothing is needed; allow lists must name the latter", Standing::note));
  }
  if (seen.records.value().identity) return out;
  const std::string source = source_of(spec, found);
  Action record;
  record.id = "identity.record:host";
  record.object = "identity";
  record.sentence = "record the host identity '" + to_text(seen.host()) + "'";
  record.reason = "none is recorded yet, and " + source_text(source) + " says so";
  record.gives = {identity_fact(seen)};
  record.after = {IdentityRecord{seen.host(), source}};
  out.actions.push_back(std::move(record));
  return out;
}

}  // namespace nvstripe::configure
