// Owns the client half of the API. Asks for "Connection: close" and reads to the end, so no chunk parsing is needed; the
// server always sends Content-Length, and a shorter body than that is an error.
#include "agent/api/client.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "agent/base/text.hpp"

namespace nvstripe::api {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kMaxAnswerBytes = 64u << 20;  // 1,024 devices are under 4 MiB
constexpr const char* kRemedy = "is nvstriped running? 'systemctl status nvstriped' and 'journalctl -u nvstriped' say more";

struct Descriptor {
  int fd = -1;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

int left_ms(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

Result<> await(int fd, short events, Clock::time_point until, const std::string& path) {
  pollfd waiting{fd, events, 0};
  int rc = 0;
  do {
    rc = ::poll(&waiting, 1, left_ms(until));
  } while (rc < 0 && errno == EINTR);
  if (rc < 0) return fail_errno("cannot wait for '" + path + "'");
  if (rc == 0)
    return fail("the agent did not answer on '" + path + "' in time", kRemedy, std::make_error_code(std::errc::timed_out));
  return {};
}

Result<> connect_to(int fd, const std::string& path, Clock::time_point until) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail("the socket path '" + path + "' is too long", "use a shorter one");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // A full backlog answers EAGAIN on a Unix socket and cannot be polled for.
    if (errno != EAGAIN && errno != EINTR) return fail_errno("cannot reach the agent on '" + path + "'", errno, kRemedy);
    if (left_ms(until) == 0) return fail("the agent is too busy to answer on '" + path + "'", kRemedy);
    ::poll(nullptr, 0, 20);
  }
  return {};
}

Result<> send_all(int fd, std::string_view bytes, Clock::time_point until, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      CHECKED(await(fd, POLLOUT, until, path));
    } else if (errno != EINTR) {
      return fail_errno("cannot send to the agent on '" + path + "'", errno, kRemedy);
    }
  }
  return {};
}

Result<std::string> receive_all(int fd, Clock::time_point until, const std::string& path) {
  std::string received;
  char chunk[65536];
  while (received.size() < kMaxAnswerBytes) {
    const ssize_t got = ::recv(fd, chunk, sizeof chunk, 0);
    if (got == 0) return received;
    if (got > 0) {
      received.append(chunk, static_cast<std::size_t>(got));
    } else if (errno == EAGAIN) {
      CHECKED(await(fd, POLLIN, until, path));
    } else if (errno != EINTR) {
      return fail_errno("cannot read from the agent on '" + path + "'", errno, kRemedy);
    }
  }
  return fail("the agent's answer is larger than expected", "report this");
}

Result<Answer> parse(const std::string& received) {
  const auto end = received.find("\r\n\r\n");
  const std::string_view head = std::string_view(received).substr(0, end == std::string::npos ? 0 : end);
  if (head.size() < 12 || !head.starts_with("HTTP/1.1 ")) return fail("the agent broke off its answer", kRemedy);
  Answer answer;
  answer.status = static_cast<int>(parse_number(head.substr(9, 3)).value_or(0));
  answer.body = received.substr(end + 4);
  constexpr std::string_view kLength = "\r\nContent-Length: ";
  const auto at = head.find(kLength);
  if (at != std::string_view::npos) {
    const auto line = head.substr(at + kLength.size());
    const auto length = parse_number(line.substr(0, line.find('\r')));
    if (!length || *length != answer.body.size()) return fail("the agent broke off its answer", kRemedy);
  }
  return answer;
}

}  // namespace

Result<Answer> exchange(const std::string& socket_path, const std::string& method, const std::string& target,
                        const std::string& body, std::chrono::milliseconds deadline) {
  const auto until = Clock::now() + deadline;
  Descriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (socket.fd < 0) return fail_errno("cannot make a socket");
  CHECKED(connect_to(socket.fd, socket_path, until));
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: nvstripe\r\nConnection: close\r\n";
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  CHECKED(send_all(socket.fd, text, until, socket_path));
  TRY(const std::string received, receive_all(socket.fd, until, socket_path));
  return parse(received);
}

}  // namespace nvstripe::api
