// Owns the field names of status answers.
#include "agent/api/status_json.hpp"

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::api {
namespace {

namespace bj = boost::json;

bj::array texts(const std::vector<std::string>& values) {
  bj::array out;
  for (const std::string& value : values) out.emplace_back(printable(value));
  return out;
}

bj::object reason(const Reason& value) {
  return {{"id", value.id}, {"why", printable(value.why)}, {"remedy", printable(value.remedy)}};
}

bj::array reasons(const std::vector<Reason>& values) {
  bj::array out;
  for (const Reason& value : values) out.emplace_back(reason(value));
  return out;
}

bj::object volume_object(const VolumeStatus& volume) {
  bj::array members;
  for (const MemberStatus& member : volume.members)
    members.emplace_back(bj::object{{"key", member.key},
                                    {"kernel_name", member.kernel_name},
                                    {"connection", member.connection},
                                    {"transport", member.transport},
                                    {"state", member.state}});
  return {{"name", volume.name},
          {"state", to_text(volume.state)},
          {"path", volume.mount_path},
          {"device", volume.device},
          {"stack", volume.stack},
          {"stage", volume.stage},
          {"transport", volume.transport},
          {"transport_reason", volume.transport_reason},
          {"size_bytes", volume.size_bytes},
          {"members_wanted", volume.wanted_members},
          {"members", std::move(members)},
          {"held", volume.held},
          {"waits_for", reasons(volume.waits_for)},
          {"notes", reasons(volume.notes)},
          {"pending", texts(volume.pending)}};
}

bj::array volume_array(const Status& status) {
  bj::array volumes;
  for (const VolumeStatus& volume : status.volumes) volumes.emplace_back(volume_object(volume));
  return volumes;
}

bj::array connection_array(const Status& status) {
  bj::array connections;
  for (const ConnectionStatus& connection : status.connections)
    connections.emplace_back(bj::object{{"name", connection.name},
                                        {"address", connection.address},
                                        {"transport", connection.transport},
                                        {"state", connection.state},
                                        {"problem", connection.problem},
                                        {"controllers", connection.controllers},
                                        {"queues", connection.queues},
                                        {"waits_for", reasons(connection.waits_for)}});
  return connections;
}

bj::array export_array(const Status& status) {
  bj::array exports;
  for (const ExportStatus& entry : status.exports) {
    bj::array hosts;
    for (const ExportHost& host : entry.hosts)
      hosts.emplace_back(bj::object{{"nqn", host.nqn}, {"namespaces", host.namespaces}, {"connected", host.connected}});
    exports.emplace_back(bj::object{{"name", entry.name},
                                    {"state", entry.state},
                                    {"drives", entry.drives},
                                    {"namespaces", entry.namespaces},
                                    {"listens", texts(entry.listens)},
                                    {"hosts", std::move(hosts)},
                                    {"waits_for", reasons(entry.waits_for)}});
  }
  return exports;
}

bj::object spec_object(const SpecState& spec) {
  return {{"files", texts(spec.files)},
          {"loaded", spec.loaded},
          {"last_good", spec.last_good},
          {"problem", spec.problem},
          {"remedy", spec.remedy}};
}

bj::array line_array(const std::vector<ActionOutcome>& lines) {
  bj::array out;
  for (const ActionOutcome& line : lines)
    out.emplace_back(bj::object{
        {"id", line.id}, {"sentence", line.sentence}, {"error", printable(line.error)}, {"remedy", printable(line.remedy)}});
  return out;
}

}  // namespace

std::string status_json(const Status& status) {
  bj::array holds, tuning;
  for (const auto& [object, why] : status.holds) holds.emplace_back(bj::object{{"object", object}, {"why", why}});
  for (const auto& [subject, note] : status.tuning) {
    bj::object entry = reason(note);
    entry["subject"] = subject;
    tuning.emplace_back(std::move(entry));
  }
  bj::object out = json::document();
  const bj::object fields{{"version", status.version},
                          {"taken", status.taken},
                          {"ok", exit_code_of(status) == 0},
                          {"host_id", status.host_id},
                          {"host_nqn", status.host_nqn},
                          {"hostname", status.hostname},
                          {"provider", status.provider},
                          {"activity", status.activity},
                          {"spec", spec_object(status.spec)},
                          {"pass_error", status.pass_error},
                          {"volumes", volume_array(status)},
                          {"connections", connection_array(status)},
                          {"exports", export_array(status)},
                          {"conflicts", reasons(status.others)},
                          {"notes", reasons(status.notes)},
                          {"holds", std::move(holds)},
                          {"tuning", std::move(tuning)},
                          {"failures", line_array(status.failures)},
                          {"withheld", texts(status.withheld)},
                          {"digest", status.digest},
                          {"cannot_see", texts(status.cannot_see)}};
  for (const auto& field : fields) out.emplace(field.key(), field.value());
  return json::text(out);
}

std::string volumes_json(const Status& status) {
  bj::object out = json::document();
  out["volumes"] = volume_array(status);
  return json::text(out);
}

std::string progress_json(std::uint64_t id, const Progress& progress) {
  static constexpr const char* kStates[] = {"queued", "running", "done", "failed"};
  bj::object out = json::document();
  out["request"] = id;
  out["state"] = kStates[static_cast<int>(progress.state)];
  out["lines"] = line_array(progress.lines);
  out["last_line_open"] = progress.last_line_open;
  out["error"] = printable(progress.error);
  out["remedy"] = printable(progress.remedy);
  if (!progress.answer.empty()) out["answer"] = bj::parse(progress.answer);
  return json::text(out);
}

std::string identity_json(const Snapshot& snapshot, const std::string& instance) {
  const Inventory& seen = snapshot.pass.seen;
  const HostIdentity& identity = seen.identity.value();
  const auto& recorded = seen.records.value().identity;
  const std::string host = snapshot.taken.empty() ? std::string() : to_text(seen.host());
  bj::object out = json::document();
  out["host_id"] = host;
  out["host_nqn"] = host.empty() ? std::string() : "nqn.2014-08.org.nvmexpress:uuid:" + host;
  out["computed"] = seen.identity.is_known() ? to_text(identity.computed) : std::string();
  out["recorded"] = recorded ? to_text(recorded->host) : std::string();
  out["source"] = recorded ? recorded->source : std::string();
  out["wanted"] = snapshot.spec.spec.node.host_id ? to_text(*snapshot.spec.spec.node.host_id) : std::string("auto");
  out["provider"] = identity.provider;
  out["hostname"] = identity.hostname;
  out["instance"] = instance;
  bj::array conflicts;
  for (const Conflict& conflict : snapshot.pass.plan.conflicts)
    if (conflict.id.starts_with("identity.")) conflicts.push_back(json::to_json(conflict));
  out["conflicts"] = std::move(conflicts);
  return json::text(out);
}

}  // namespace nvstripe::api
