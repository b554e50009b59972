// Owns candidates, spread and the refusals of a choice. What rules a device out is the guard's to say.
#include "configurators/volume_choice.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"
#include "agent/model/guard_ours.hpp"
#include "configurators/local_drives.hpp"
#include "configurators/nvme_connect.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::size_t kNamedDevices = 6;  // as many are named in one sentence; the rest is counted

struct Candidate {
  const BlockDevice* device = nullptr;
  std::string domain, target;
  bool wipe = false;
};
struct PassedOver {
  const BlockDevice* device = nullptr;
  std::vector<guard::Veto> vetoes;
  bool other_host = false;
};
struct Pool {
  std::vector<Candidate> candidates;
  std::vector<PassedOver> passed_over;
};

bool has_veto(const std::vector<guard::Veto>& vetoes, std::string_view id) {
  return std::any_of(vetoes.begin(), vetoes.end(), [&](const guard::Veto& veto) { return veto.id == id; });
}

bool is_content(const guard::Veto& veto) { return veto.id == "guard.signature" || veto.id == "guard.content"; }

// Not there yet rather than not allowed: the next look may say something else.
bool may_pass(const PassedOver& one) {
  return std::all_of(one.vetoes.begin(), one.vetoes.end(), [](const guard::Veto& veto) {
    return veto.id == "guard.look_unknown" || veto.id == "guard.content_unknown" || veto.id == "guard.not_live" ||
           veto.id == "guard.facet_unknown";
  });
}

// A member of another volume of this host, which the records may have forgotten.
bool is_our_member(const BlockDevice& device, const Spec& spec, const Inventory& seen) {
  const auto& records = seen.records.value().volumes;
  return std::any_of(spec.volumes.begin(), spec.volumes.end(),
                     [&](const VolumeSpec& one) { return own_generation(device, one.name, seen.host()).has_value(); }) ||
         std::any_of(records.begin(), records.end(),
                     [&](const VolumeRecord& one) { return own_generation(device, one.name, seen.host()).has_value(); });
}

void consider(const BlockDevice& device, const VolumeSpec& wanted, const std::string& domain, const std::string& target,
              const Spec& spec, const Inventory& seen, Pool& pool) {
  std::vector<guard::Veto> vetoes = guard::unusable(device, seen);
  if (vetoes.empty()) {
    pool.candidates.push_back({&device, domain, target, false});
    return;
  }
  const bool ours = is_our_member(device, spec, seen);
  const bool other_host = !ours && guard::is_named_as_ours(device, seen);
  const bool only_content = std::all_of(vetoes.begin(), vetoes.end(), is_content);
  if (wanted.wipe_foreign_data && only_content && !other_host && !ours) {
    pool.candidates.push_back({&device, domain, target, true});
    return;
  }
  pool.passed_over.push_back({&device, std::move(vetoes), other_host});
}

std::string domain_of(const ConnectionSpec& connection) { return connection.failure_domain.value_or(connection.name); }

void add_local(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen, const std::set<DeviceKey>& taken,
               Pool& pool) {
  const LocalDrives drives = divide_local_drives(spec, seen);
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kind != DeviceKind::local_ssd || !device.parent.empty()) continue;
    if (!drives.free_for_volumes(device.key) || taken.contains(device.key)) continue;
    consider(device, wanted, spec.node.failure_domain.value_or("local"), "local_ssd", spec, seen, pool);
  }
}

// Law 4: nothing is judged, let alone chosen, before every connection that the volume names is live.
std::vector<std::string> add_remote(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen,
                                    const std::set<DeviceKey>& taken, const Reached& reached, Pool& pool) {
  std::vector<std::string> missing;
  std::set<const BlockDevice*> considered;  // once, also where two connections or controllers lead to it
  for (const std::string& name : wanted.members.from) {
    const ConnectionSpec* connection = spec.connection(name);
    if (connection == nullptr) continue;
    const ConnectionView view = view_connection(*connection, seen);
    if (!view.complete) missing.push_back("'" + name + "' (" + view.missing + ")");
    for (const WantedController& one : view.controllers) {
      const auto found = one.existing == nullptr ? reached.end() : reached.find(one.existing->kernel_name);
      if (found == reached.end()) continue;
      for (const BlockDevice* device : found->second) {
        if (taken.contains(device->key) || !considered.insert(device).second) continue;
        consider(*device, wanted, domain_of(*connection), name, spec, seen, pool);
      }
    }
  }
  return missing;
}

// Round robin over the domains, within each over its targets; blank devices before those that would be wiped.
std::vector<Candidate> spread(std::vector<Candidate> all, std::uint32_t count) {
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.wipe, a.device->key) < std::tie(b.wipe, b.device->key);
  });
  std::map<std::string, std::map<std::string, std::vector<Candidate>>> domains;
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    domains[it->domain][it->target].push_back(*it);  // next one at the back
  std::map<std::string, std::size_t> turn;
  std::vector<Candidate> chosen;
  bool any = true;
  while (chosen.size() < count && any) {
    any = false;
    for (auto& [domain, targets] : domains) {
      if (chosen.size() == count) break;
      for (std::size_t tried = 0; tried < targets.size(); ++tried) {
        auto target = std::next(targets.begin(), static_cast<std::ptrdiff_t>(turn[domain]++ % targets.size()));
        if (target->second.empty()) continue;
        chosen.push_back(target->second.back());
        target->second.pop_back();
        any = true;
        break;
      }
    }
  }
  return chosen;
}

std::string describe(const std::vector<PassedOver>& all) {
  std::vector<std::string> parts;
  for (const PassedOver& one : all) {
    if (parts.size() == kNamedDevices) break;
    parts.push_back("'" + printable(one.device->key.text) + "': " + one.vetoes.front().sentence);
  }
  std::string text = join(parts, "; ");
  if (all.size() > kNamedDevices) text += "; and " + std::to_string(all.size() - kNamedDevices) + " more";
  return text;
}

Conflict too_few(const VolumeSpec& wanted, const Pool& pool) {
  const std::string from = join(wanted.members.from, ", ");
  const std::string need = many(wanted.members.count, "member") + (wanted.members.count == 1 ? " is" : " are") +
                           " wanted from " + from + " and " + std::to_string(pool.candidates.size()) + " can be used";
  const std::string why = pool.passed_over.empty() ? need : need + ": " + describe(pool.passed_over);
  const auto other =
      std::find_if(pool.passed_over.begin(), pool.passed_over.end(), [](const auto& one) { return one.other_host; });
  if (other != pool.passed_over.end()) {
    return volume_conflict(
        wanted.name, "volume.other_host", why + "; it belongs to another host's volume",
        "give this host drives of its own (exports, 'allow'), or release and wipe that volume on its host");
  }
  const auto pending = std::count_if(pool.passed_over.begin(), pool.passed_over.end(), may_pass);
  if (pool.candidates.size() + static_cast<std::size_t>(pending) >= wanted.members.count) {
    return volume_conflict(wanted.name, "volume.members_unseen", why, "wait until they can be looked at", Standing::waiting);
  }
  for (const PassedOver& one : pool.passed_over) {
    if (has_veto(one.vetoes, "guard.holder")) {
      return volume_conflict(
          wanted.name, "volume.foreign_array", why,
          "if that content is not needed, stop the array and wipe its members yourself; nvstripe stops only "
          "its own arrays");
    }
    if (has_veto(one.vetoes, "guard.signature") || has_veto(one.vetoes, "guard.content")) {
      return volume_conflict(wanted.name, "volume.foreign_data", why, std::string(guard::remedy_of("guard.signature")));
    }
  }
  return volume_conflict(wanted.name, "volume.too_few_members", why, "lower 'count', or name more connections or drives");
}

std::string sizes_text(const std::vector<Candidate>& chosen) {
  std::set<std::string> sizes;
  for (const Candidate& one : chosen)
    sizes.insert(to_text(one.device->size) + " (" + std::to_string(one.device->size.count) + " B)");
  return join({sizes.begin(), sizes.end()}, ", ");
}

void check_sizes(const VolumeSpec& wanted, const std::vector<Candidate>& chosen, Choice& out) {
  std::set<std::uint32_t> blocks;
  std::set<std::uint64_t> sizes;
  for (const Candidate& one : chosen) {
    blocks.insert(one.device->logical_block);
    sizes.insert(one.device->size.count);
  }
  if (blocks.size() > 1) {
    std::vector<std::string> texts;
    for (const std::uint32_t block : blocks) texts.push_back(std::to_string(block));
    out.conflicts.push_back(
        volume_conflict(wanted.name, "volume.mixed_block_sizes",
                        "the members have different logical block sizes: " + join(texts, ", ") + " bytes",
                        "name drives of one format; a stripe over both would change its block size later"));
  }
  if (sizes.size() < 2) return;
  if (!wanted.members.unequal_sizes) {
    out.conflicts.push_back(volume_conflict(
        wanted.name, "volume.unequal_sizes", "the members differ in size: " + sizes_text(chosen),
        wanted.stack == Stack::md
            ? "name equal drives, or set 'unequal_sizes: trim' and 'stack: lvm' to use all up to the smallest"
            : "name equal drives, or set 'unequal_sizes: trim' to use all up to the smallest"));
  } else if (wanted.stack == Stack::md) {
    // raid0 stripes the rest of larger members in zones of its own, and mdadm cannot limit what it uses of a raid0 member.
    out.conflicts.push_back(
        volume_conflict(wanted.name, "volume.trim_needs_lvm",
                        "the members differ in size: " + sizes_text(chosen) + ", and md's raid0 cannot trim them",
                        "set 'stack: lvm', or name equal drives"));
  } else {
    out.trim = true;
  }
}

void check_domains(const VolumeSpec& wanted, const std::vector<Candidate>& chosen, Choice& out) {
  std::set<std::string> domains;
  for (const Candidate& one : chosen) domains.insert(one.domain);
  if (!wanted.members.min_failure_domains || domains.size() >= *wanted.members.min_failure_domains) return;
  out.conflicts.push_back(volume_conflict(wanted.name, "volume.too_few_domains",
                                          "the members lie in " + many(domains.size(), "failure domain") + " (" +
                                              join({domains.begin(), domains.end()}, ", ") + "), and " +
                                              std::to_string(*wanted.members.min_failure_domains) + " are asked for",
                                          "name connections in more failure domains, or lower 'min_failure_domains'"));
}

}  // namespace

Reached by_controller(const Inventory& seen) {
  Reached out;
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kind != DeviceKind::remote_namespace) continue;
    for (const std::string& controller : device.controllers) out[controller].push_back(&device);
  }
  return out;
}

Choice choose_members(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen, const std::set<DeviceKey>& taken,
                      const Reached& reached) {
  Choice out;
  Pool pool;
  const auto& from = wanted.members.from;
  if (std::find(from.begin(), from.end(), "local_ssd") != from.end()) add_local(wanted, spec, seen, taken, pool);
  const std::vector<std::string> missing = add_remote(wanted, spec, seen, taken, reached, pool);
  std::sort(pool.passed_over.begin(), pool.passed_over.end(),
            [](const PassedOver& a, const PassedOver& b) { return a.device->key < b.device->key; });
  if (!missing.empty()) {
    out.conflicts.push_back(volume_conflict(
        wanted.name, "volume.waits_for_connection", "it does not exist yet, and waits for " + join(missing, ", "),
        "nothing is needed once they are connected; the connection says what it waits for", Standing::waiting));
    return out;
  }
  if (pool.candidates.size() < wanted.members.count) {
    out.conflicts.push_back(too_few(wanted, pool));
    return out;
  }
  const std::vector<Candidate> chosen = spread(std::move(pool.candidates), wanted.members.count);
  check_sizes(wanted, chosen, out);
  check_domains(wanted, chosen, out);
  if (!out.conflicts.empty()) return out;
  for (const Candidate& one : chosen) {
    out.members.push_back(one.device->key);
    if (one.wipe) out.wiped.push_back(one.device->key);
  }
  if (!pool.passed_over.empty()) {
    out.conflicts.push_back(volume_conflict(wanted.name, "volume.passed_over",
                                            "these were not considered: " + describe(pool.passed_over),
                                            "nothing is needed; they are left as they are", Standing::note));
  }
  return out;
}

}  // namespace nvstripe::configure
