// Tests of looks at targets: the TCP probe against real listeners, discovery logs, pace, memory and the watch itself.
#include "agent/host/targets.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstring>
#include <future>
#include <thread>

#include "agent/base/fd.hpp"
#include "agent/host/target_probe.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace std::chrono_literals;

namespace {

// A listener on 127.0.0.1 that answers each connection with the given bytes once it was spoken to.
class Listener {
 public:
  explicit Listener(std::string answer, bool speaks = true) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own) == 0);
    REQUIRE(::listen(fd_.get(), 4) == 0);
    socklen_t length = sizeof own;
    REQUIRE(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&own), &length) == 0);
    port_ = ntohs(own.sin_port);
    if (speaks) thread_ = std::thread([this, answer] { serve(answer); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void serve(const std::string& answer) const {
    const Fd peer(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) return;
    std::array<char, 128> heard{};
    std::size_t got = 0;
    while (got < heard.size()) {
      const auto piece = ::recv(peer.get(), heard.data() + got, heard.size() - got, 0);
      if (piece <= 0) return;
      got += static_cast<std::size_t>(piece);
    }
    (void)::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  }
  Fd fd_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

struct Record {
  std::uint8_t trtype, subtype;
  std::string nqn, traddr;
};
std::vector<std::uint8_t> discovery_log(const std::vector<Record>& records) {
  std::vector<std::uint8_t> log(1024 * (1 + records.size()));
  log[8] = static_cast<std::uint8_t>(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto* entry = log.data() + 1024 * (i + 1);
    entry[0] = records[i].trtype;
    entry[1] = 1;
    entry[2] = records[i].subtype;
    std::memcpy(entry + 32, "4420 ", 5);
    std::memcpy(entry + 256, records[i].nqn.data(), records[i].nqn.size());
    std::memcpy(entry + 512, records[i].traddr.data(), records[i].traddr.size());
  }
  return log;
}

}  // namespace

TEST_CASE("a listener that answers the first PDU of NVMe over TCP is reachable") {
  const Listener listener(std::string("\x01", 1));
  CHECK(probe_tcp("127.0.0.1", listener.port(), 5s).reach == Reach::reachable);
}

TEST_CASE("a listener that accepts and says nothing is silent, in bounded time") {
  const Listener listener("", false);
  const auto reached = probe_tcp("127.0.0.1", listener.port(), 100ms);
  CHECK(reached.reach == Reach::silent);
  CHECK_FALSE(reached.problem.empty());
}

TEST_CASE("a closed port and a listener of another kind are unreachable, each with its reason") {
  std::uint16_t port = 0;
  {
    const Listener gone("", false);
    port = gone.port();
  }
  CHECK(probe_tcp("127.0.0.1", port, 5s).problem == "nothing listens there");
  const Listener ssh("SSH-2.0\r\n");
  const auto reached = probe_tcp("127.0.0.1", ssh.port(), 5s);
  CHECK(reached.reach == Reach::unreachable);
  CHECK(reached.problem.find("does not speak") != std::string::npos);
}

TEST_CASE("an answer that may pass is asked for again, a standing one is not") {
  const Reached young{Reach::unreachable, "its address is not resolved by RDMA", true};
  const Reached none{Reach::unreachable, "this machine has no RDMA device"};
  std::chrono::seconds waited{0};
  const auto pause = [&](std::chrono::seconds wait) { waited += wait; };
  int asked = 0;
  SECTION("until it is another one") {
    const auto ask = [&] { return ++asked < 2 ? young : Reached{Reach::reachable, ""}; };
    CHECK(insist(young, ask, pause).reach == Reach::reachable);
    CHECK(asked == 2);
    CHECK(waited == 3s);
  }
  SECTION("a bounded number of times") {
    const auto ask = [&] { return ++asked, young; };
    CHECK(insist(young, ask, pause).reach == Reach::unreachable);
    CHECK(asked == 3);
    CHECK(waited == 5s);
  }
  SECTION("and what stands costs nothing") {
    const auto ask = [&] { return ++asked, young; };
    CHECK(insist(none, ask, pause).problem == none.problem);
    CHECK(asked == 0);
  }
}

TEST_CASE("a name resolves to numeric addresses and a route gives our own") {
  CHECK(resolve("127.0.0.1").value() == std::vector<std::string>{"127.0.0.1"});
  CHECK(local_address_to("127.0.0.1", 4420).value() == "127.0.0.1");
  CHECK_FALSE(local_address_to("not-numeric", 4420).has_value());
}

TEST_CASE("discovery records are filtered by transport, made one per subsystem, and referrals counted") {
  const auto log = discovery_log({{3, 2, "nqn.b", "10.9.0.7"},
                                  {3, 2, "nqn.b", "10.9.0.1"},
                                  {1, 2, "nqn.a", "10.9.0.1"},
                                  {3, 1, "nqn.2014-08.org.nvmexpress.discovery", "10.9.0.9"},
                                  {3, 2, "nqn.evil,hostid=1", "10.9.0.1"}});
  const auto tcp = parse_discovery_log(log, "tcp", "10.9.0.1");
  REQUIRE(tcp.has_value());
  CHECK(tcp->referrals == 1);
  REQUIRE(tcp->subsystems.size() == 1);
  CHECK(tcp->subsystems[0] == DiscoveredSubsystem{"nqn.b", "tcp", "10.9.0.1", "4420"});
  CHECK(parse_discovery_log(log, "rdma", "10.9.0.1")->subsystems.size() == 1);
}

TEST_CASE("a discovery log shorter than it says is refused") {
  auto log = discovery_log({{3, 2, "nqn.b", "10.9.0.1"}});
  log[8] = 200;
  CHECK_FALSE(parse_discovery_log(log, "tcp", "10.9.0.1").has_value());
  CHECK_FALSE(parse_discovery_log(std::span(log).first(100), "tcp", "10.9.0.1").has_value());
}

TEST_CASE("a look at a target is made by a child and ends with a view, named subsystem without discovery") {
  const Listener listener(std::string("\x01", 1));
  TargetQuestion question{
      .connection = {
          .name = "s1", .address = "127.0.0.1", .port = listener.port(), .transport = Transport::tcp, .subsystem = "nqn.x"}};
  const auto view = ask_target(question, -1);
  CHECK(view.connection == "s1");
  CHECK(view.tcp == Reach::reachable);
  CHECK(view.rdma == Reach::unknown);
  CHECK(view.local_address == "127.0.0.1");
  CHECK_FALSE(view.discovered);
  CHECK(view.problem.empty());
  CHECK(answers(view));
}

TEST_CASE("a target that let itself be reached and then was not heard of is silent") {
  TargetView last{.connection = "s", .tcp = Reach::reachable, .rdma = Reach::unreachable, .resolved_address = "10.9.0.1"};
  CHECK(unfinished(last, true).tcp == Reach::silent);
  CHECK_FALSE(unfinished(last, true).problem.empty());
  CHECK(unfinished({.connection = "s"}, true).problem.find("name") != std::string::npos);
  CHECK_FALSE(answers(unfinished(last, true)));
}

TEST_CASE("what a discovery log said is remembered while the target is away") {
  const TargetView before{.connection = "s",
                          .tcp = Reach::reachable,
                          .resolved_address = "10.9.0.1",
                          .discovered = true,
                          .subsystems = {{"nqn.x", "tcp", "10.9.0.1", "4420"}}};
  const auto now = with_memory({.connection = "s", .tcp = Reach::unreachable, .problem = "down"}, before);
  CHECK(now.discovered);
  CHECK(now.subsystems == before.subsystems);
  CHECK(now.tcp == Reach::unreachable);
}

TEST_CASE("failures are tried again soon and ever slower, success is followed slowly") {
  TargetPace pace;
  CHECK(pace.after(false, true) == 1s);
  CHECK(pace.after(false, false) == 2s);
  for (int i = 0; i < 10; ++i) (void)pace.after(false, false);
  CHECK(pace.after(false, false) == 30s);
  CHECK(pace.after(true, true) == 60s);
  CHECK(pace.after(true, false) == 120s);
  CHECK(pace.after(true, false) == 240s);
  CHECK(pace.after(true, false) == 300s);
  CHECK(pace.after(true, true) == 60s);
  CHECK(pace.after(false, true) == 1s);
}

TEST_CASE("a target that never answers delays no other one, and the watch ends at once") {
  std::promise<void> live_seen;
  std::once_flag once;
  {
    TargetWatch watch([&] { std::call_once(once, [&] { live_seen.set_value(); }); },
                      [](const TargetQuestion& question, int cancel_fd) {
                        TargetView view{.connection = question.connection.name, .tcp = Reach::reachable};
                        if (question.connection.name == "dead") {
                          std::uint64_t told = 0;
                          while (::read(cancel_fd, &told, sizeof told) < 0) std::this_thread::yield();
                        }
                        return view;
                      });
    watch.follow({{.name = "dead"}, {.name = "live"}}, "nqn.host", "id");
    REQUIRE(live_seen.get_future().wait_for(20s) == std::future_status::ready);
    const auto views = watch.views();
    REQUIRE(views.size() == 2);
    CHECK(views[0].tcp == Reach::checking);
    CHECK(views[1].tcp == Reach::reachable);
    watch.follow({{.name = "live"}}, "nqn.host", "id");
    CHECK(watch.views().size() == 1);
  }
}

TEST_CASE("a view survives its line") {
  const TargetView view{.connection = "s",
                        .tcp = Reach::silent,
                        .rdma = Reach::reachable,
                        .resolved_address = "fd00::1",
                        .local_address = "fd00::2",
                        .discovered = true,
                        .subsystems = {{"nqn.x", "rdma", "fd00::1", "4420"}},
                        .problem = "a \"b\"",
                        .tcp_problem = "t"};
  CHECK(parse_target_line(to_line(view)).value() == view);
  CHECK_FALSE(parse_target_line("[]").has_value());
}
