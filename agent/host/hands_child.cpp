// Owns the child's half of the hands: reads a request a line, performs it, answers a line; ends when idle or unheard.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <string>

#include "agent/host/child.hpp"
#include "agent/host/child_verbs.hpp"
#include "agent/host/fabrics.hpp"
#include "agent/host/hands.hpp"
#include "agent/host/writer.hpp"

namespace nvstripe::host {
namespace {

namespace json = boost::json;

constexpr int kIdleMs = 10'000;

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}
template <class Number>
Number number_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_int64() ? static_cast<Number>(value->get_int64()) : Number{};
}

Result<std::string> done(Result<> result) {
  if (!result) return tl::unexpected(std::move(result).error());
  return std::string();
}

Result<std::string> connect(const json::object& o) {
  Connect step;
  step.nqn = text_of(o, "nqn");
  step.transport = text_of(o, "transport");
  step.traddr = text_of(o, "traddr");
  step.trsvcid = text_of(o, "trsvcid");
  step.host_traddr = text_of(o, "host_traddr");
  step.hostnqn = text_of(o, "hostnqn");
  step.hostid = text_of(o, "hostid");
  step.nr_io_queues = number_of<std::uint32_t>(o, "nr_io_queues");
  step.queue_size = number_of<std::uint32_t>(o, "queue_size");
  step.keep_alive_tmo = number_of<std::uint32_t>(o, "keep_alive_tmo");
  step.reconnect_delay = number_of<std::uint32_t>(o, "reconnect_delay");
  step.ctrl_loss_tmo = number_of<std::int32_t>(o, "ctrl_loss_tmo");
  step.fast_io_fail_tmo = number_of<std::int32_t>(o, "fast_io_fail_tmo");
  return fabrics_connect(step);
}

Result<std::string> perform(const json::object& o) {
  const std::string verb = text_of(o, "verb"), path = text_of(o, "path");
  if (verb == "write_attribute") return done(write_attribute(path, text_of(o, "value")));
  if (verb == "put_file") return done(put_file(path, text_of(o, "text"), number_of<unsigned>(o, "mode")));
  if (verb == "make_dir") return done(make_dir(path));
  if (verb == "make_mount_point") return done(make_mount_point(path));
  if (verb == "make_link") return done(make_link(text_of(o, "target"), path));
  if (verb == "remove_path") return done(remove_path(path));
  if (verb == "set_owner") return done(set_owner(path, text_of(o, "owner"), text_of(o, "group"), text_of(o, "mode")));
  if (verb == "connect") return connect(o);
  if (verb == "delete_controller") {
    return done(fabrics_delete(
        {text_of(o, "name"), text_of(o, "nqn"), text_of(o, "transport"), text_of(o, "traddr"), text_of(o, "trsvcid")}));
  }
  return fail("the hands know no verb '" + verb + "'", "report this as a defect");
}

std::string answer_to(const std::string& line) {
  boost::system::error_code code;
  const auto value = json::parse(line, code);
  const auto result =
      code || !value.is_object() ? Result<std::string>(fail("a request is not understood")) : perform(value.get_object());
  if (result) return json::serialize(json::object{{"result", *result}});
  const auto& error = result.error();
  return json::serialize(json::object{{"what", error.what}, {"remedy", error.remedy}, {"errno", error.cause.value()}});
}

}  // namespace

int hands_verb(const std::vector<std::string>&) {
  std::string pending;
  for (;;) {
    if (const auto end = pending.find('\n'); end != std::string::npos) {
      tell(answer_to(pending.substr(0, end)));
      pending.erase(0, end + 1);
      continue;
    }
    pollfd polled{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&polled, 1, kIdleMs);
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 4096> buffer{};
    const auto got = ready <= 0 ? 0 : ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got <= 0) return 0;
    pending.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace nvstripe::host
