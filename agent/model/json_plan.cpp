// Owns plans as JSON: every action with its steps, as sentences for people and as fields for programs.
#include "agent/model/json.hpp"
#include "agent/model/json_fields.hpp"

namespace nvstripe::json {

template <>
struct Fields<WriteAttribute> {
  static constexpr std::string_view kKind = "write_attribute";
  static void each(auto& visit, auto& s) {
    visit("device", s.device);
    visit("path", s.path);
    visit("value", s.value);
    visit("value_device", s.value_device);
    visit("if_present", s.if_present);
    visit("of_paths", s.of_paths);
  }
};
template <>
struct Fields<PutFile> {
  static constexpr std::string_view kKind = "put_file";
  static void each(auto& visit, auto& s) {
    visit("path", s.path);
    visit("text", s.text);
    visit("mode", fmt::format("{:04o}", s.mode));
  }
};
template <>
struct Fields<MakeDir> {
  static constexpr std::string_view kKind = "make_dir";
  static void each(auto& visit, auto& s) { visit("path", s.path); }
};
template <>
struct Fields<MakeMountPoint> {
  static constexpr std::string_view kKind = "make_mount_point";
  static void each(auto& visit, auto& s) { visit("path", s.path); }
};
template <>
struct Fields<Link> {
  static constexpr std::string_view kKind = "link";
  static void each(auto& visit, auto& s) {
    visit("target", s.target);
    visit("path", s.path);
  }
};
template <>
struct Fields<Remove> {
  static constexpr std::string_view kKind = "remove";
  static void each(auto& visit, auto& s) { visit("path", s.path); }
};
template <>
struct Fields<SetOwner> {
  static constexpr std::string_view kKind = "set_owner";
  static void each(auto& visit, auto& s) {
    visit("path", s.path);
    visit("owner", s.owner);
    visit("group", s.group);
    visit("mode", s.mode);
  }
};
template <>
struct Fields<Connect> {
  static constexpr std::string_view kKind = "connect";
  static void each(auto& visit, auto& s) {
    visit("nqn", s.nqn);
    visit("transport", s.transport);
    visit("traddr", s.traddr);
    visit("trsvcid", s.trsvcid);
    visit("host_traddr", s.host_traddr);
    visit("hostnqn", s.hostnqn);
    visit("hostid", s.hostid);
    visit("nr_io_queues", s.nr_io_queues);
    visit("queue_size", s.queue_size);
    visit("keep_alive_tmo", s.keep_alive_tmo);
    visit("reconnect_delay", s.reconnect_delay);
    visit("ctrl_loss_tmo", s.ctrl_loss_tmo);
    visit("fast_io_fail_tmo", s.fast_io_fail_tmo);
    visit("deadline_s", s.deadline);
  }
};
template <>
struct Fields<Disconnect> {
  static constexpr std::string_view kKind = "disconnect";
  static void each(auto& visit, auto& s) {
    visit("nqn", s.nqn);
    visit("transport", s.transport);
    visit("traddr", s.traddr);
    visit("trsvcid", s.trsvcid);
    visit("deadline_s", s.deadline);
  }
};
template <>
struct Fields<RequireContent> {
  static constexpr std::string_view kKind = "require_content";
  static void each(auto& visit, auto& s) {
    visit("device", s.device);
    visit("diskseq", s.diskseq);
    visit("expected", s.expected);
    visit("any_content", s.any_content);
  }
};
template <>
struct Fields<Await> {
  static constexpr std::string_view kKind = "await";
  static void each(auto& visit, auto& s) {
    visit("fact", s.fact);
    visit("deadline_s", s.deadline);
  }
};
// An argument that is a device is an object, so that it cannot be taken for a word.
struct ArgFields {
  boost::json::value operator()(const std::string& word) const { return to_value(word); }
  boost::json::value operator()(const DeviceRef& device) const {
    return boost::json::object{{"device", to_value(device.key)}};
  }
};
template <>
struct Fields<Run> {
  static constexpr std::string_view kKind = "run";
  static void each(auto& visit, auto& s) {
    boost::json::array argv, exits;
    for (const Arg& arg : s.argv) argv.push_back(std::visit(ArgFields{}, arg));
    for (const int code : s.ok_exits) exits.push_back(code);
    visit.out["argv"] = std::move(argv);
    visit.out["ok_exits"] = std::move(exits);
    visit("deadline_s", s.deadline);
    visit("udev_lock", s.udev_lock);
  }
};

namespace {

boost::json::array to_array(const std::vector<Record>& records) {
  boost::json::array out;
  for (const Record& record : records) {
    boost::json::object item{{"record", record_kind(record)}};
    for (const auto& field : to_json(record)) item.emplace(field.key(), field.value());
    out.push_back(std::move(item));
  }
  return out;
}

boost::json::array to_array(const std::vector<Step>& steps) {
  boost::json::array out;
  for (const Step& step : steps) out.push_back(to_json(step));
  return out;
}

}  // namespace

boost::json::object to_json(const Step& step) {
  return std::visit(
      [&](const auto& one) {
        using Kind = Fields<std::decay_t<decltype(one)>>;
        FieldWriter writer;
        writer.out["kind"] = boost::json::string(Kind::kKind);
        writer("sentence", to_sentence(step));
        Kind::each(writer, one);
        return std::move(writer.out);
      },
      step);
}

boost::json::object to_json(const Action& action) {
  FieldWriter writer;
  writer("id", action.id);
  writer("object", action.object);
  writer("sentence", action.sentence);
  writer("reason", action.reason);
  writer("risk", action.risk);
  writer("suspect", action.suspect);
  writer("needs", action.needs);
  writer("gives", action.gives);
  writer("writes", action.writes);
  writer("destroys", action.destroys);
  writer.out["steps"] = to_array(action.steps);
  writer.out["undo"] = to_array(action.undo);
  writer.out["before"] = to_array(action.before);
  writer.out["after"] = to_array(action.after);
  return std::move(writer.out);
}

boost::json::object to_json(const Conflict& conflict) {
  FieldWriter writer;
  writer("id", conflict.id);
  writer("subject", conflict.subject);
  writer("object", conflict.object);
  writer("why", conflict.why);
  writer("remedy", conflict.remedy);
  writer("standing", conflict.standing);
  return std::move(writer.out);
}

boost::json::object plan_document(const Plan& plan) {
  boost::json::object out = document();
  boost::json::array actions, conflicts;
  for (const Action& action : plan.actions) actions.push_back(to_json(action));
  for (const Conflict& conflict : plan.conflicts) conflicts.push_back(to_json(conflict));
  out["actions"] = std::move(actions);
  out["conflicts"] = std::move(conflicts);
  out["digest"] = plan.digest.empty() ? boost::json::value(nullptr) : to_value(plan.digest);
  return out;
}

}  // namespace nvstripe::json
