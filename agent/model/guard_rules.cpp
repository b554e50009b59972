// Owns the table of vetoes: id, the law each serves, when it forbids, and what the reader can do. docs/safety.md repeats it;
// a test compares the two.
#include <algorithm>
#include <array>

#include "agent/model/guard.hpp"

namespace nvstripe::guard {
namespace {

constexpr std::array kRules{
    // devices
    Rule{"guard.no_evidence", 1, "nothing in sysfs proves what the device is",
         "only local SSDs of known models and namespaces of known subsystems are used"},
    Rule{"guard.network_disk", 1, "it is the cloud's network disk", "name local SSDs or remote namespaces instead"},
    Rule{"guard.not_a_drive", 1, "it is an array, a logical volume or a partition", "name whole drives"},
    Rule{"guard.unstable_name", 8, "no stable identity was found for it", "give the namespace a UUID or NGUID"},
    Rule{"guard.duplicate_identity", 1, "another device answers with the same identity",
         "make the identities unique on the target, or remove one of the two"},
    Rule{"guard.facet_unknown", 9, "something that must be known about it could not be seen",
         "make it readable; nothing is done on missing information"},
    Rule{"guard.system_device", 2, "it carries '/', boot or swap", "choose another device"},
    Rule{"guard.mounted", 2, "it is mounted", "unmount it, if its content is not needed"},
    Rule{"guard.swap", 2, "it is used as swap", "choose another device"},
    Rule{"guard.holder", 2, "another device is stacked on it", "stop what is stacked on it, if its content is not needed"},
    Rule{"guard.partition_table", 2, "it has partitions", "wipe it yourself, if its content is not needed"},
    Rule{"guard.signature", 2, "it carries a signature",
         "wipe it yourself, or set 'on_foreign_data: wipe' and accept the plan"},
    Rule{"guard.look_ambiguous", 2, "the look for signatures was ambiguous",
         "wipe it yourself, if its content is not needed"},
    Rule{"guard.look_unknown", 2, "its signatures could not be read", "make it readable and look again"},
    Rule{"guard.content", 2, "no signature, but sampled ranges are not zero",
         "discard or zero it yourself, or set 'on_foreign_data: wipe' and accept the plan"},
    Rule{"guard.content_unknown", 2, "its content could not be sampled", "make it readable and look again"},
    Rule{"guard.read_only", 2, "it is read-only", "make it writable"},
    Rule{"guard.exported", 10, "it is exported by nvmet", "a drive is exported or a member, never both"},
    Rule{"guard.exports_unclear", 10, "nvmet exports a path that matches no device seen",
         "remove that namespace from nvmet, or give it a path under /dev/disk/by-id of a device that is there"},
    Rule{"guard.member", 10, "it would be exported and is a member of a volume of this host",
         "a drive is exported or a member, never both: leave it out of the export"},
    Rule{"guard.ledger", 10, "the export ledger says it belongs to a consumer", "withdraw the export first"},
    Rule{"guard.loop", 10, "it is this host's own export, seen through the fabric", "do not connect to the own address"},
    Rule{"guard.not_live", 12, "no controller that reaches it is live", "wait until its target answers"},
    // actions
    Rule{"guard.unseen_device", 9, "an action writes to a device that is not seen", "look again"},
    Rule{"guard.no_last_look", 5, "an action writes without a last look before it", "report this as a defect"},
    Rule{"guard.last_look_differs", 5, "the last look would allow content that was not judged", "report this as a defect"},
    Rule{"guard.undeclared_write", 5, "a writing program names a device that the action does not declare",
         "report this as a defect"},
    Rule{"guard.kernel_name", 8, "an action names a device by its kernel name", "report this as a defect"},
    Rule{"guard.risk_understated", 6, "an action claims less risk than it carries", "report this as a defect"},
    Rule{"guard.no_consent", 6, "it would destroy data without consent for that volume and that content",
         "set 'on_foreign_data: wipe' for the volume and accept the plan"},
    Rule{"guard.foreign_connection", 9, "the controller was not made by this agent during this boot",
         "disconnect it yourself, if nothing needs it"},
    Rule{"guard.connected_already", 9, "a controller to the same place exists already", "none is needed"},
    Rule{"guard.foreign_host_identity", 3, "it would connect under another host's identity", "report this as a defect"},
    Rule{"guard.foreign_array", 9, "the array is not one of this host's volumes", "stop it yourself, if nothing needs it"},
    Rule{"guard.foreign_group", 9, "the volume group is not one of this host's", "handle it yourself"},
    Rule{"guard.foreign_unit", 9, "the unit is not one of this agent's", "handle it yourself"},
    Rule{"guard.foreign_mount", 9, "something else than a volume of ours is mounted where a unit of ours would be stopped",
         "unmount it yourself, if nothing needs it"},
    Rule{"guard.foreign_export", 9, "the subsystem or port is not one of this agent's", "remove it yourself, if unneeded"},
    Rule{"guard.foreign_path", 9, "the path is outside what this agent may write", "report this as a defect"},
    Rule{"guard.foreign_setting", 9, "the setting belongs to a device that is not this agent's", "report this as a defect"},
    Rule{"guard.namespace_reused", 10, "the namespace id was given to another drive before", "report this as a defect"},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

std::string_view remedy_of(std::string_view id) {
  const auto* row = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.id == id; });
  return row == kRules.end() ? std::string_view{} : row->remedy;
}

}  // namespace nvstripe::guard
