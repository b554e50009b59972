// Owns the calls of fabrics.hpp that touch the kernel. Each may block for minutes and is made in a child only.
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/host/fabrics.hpp"
#include "agent/host/writer.hpp"

namespace nvstripe::host {
namespace {

// The kernel log from now on. errno cannot tell "not allowed" from "no such subsystem": both are EIO; the log can.
class KernelLog {
 public:
  KernelLog() : fd_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (fd_ && ::lseek(fd_.get(), 0, SEEK_END) < 0) fd_.reset();
  }
  // Lines about nvme since then; empty where the log may not be read.
  [[nodiscard]] std::string since() const {
    std::string text;
    std::array<char, 8192> record{};
    for (int i = 0; fd_ && i < 500; ++i) {
      const auto got = ::read(fd_.get(), record.data(), record.size());
      if (got < 0 && errno == EPIPE) continue;  // overwritten meanwhile: the next read goes on
      if (got <= 0) break;
      const std::string_view line(record.data(), static_cast<std::size_t>(got));
      if (line.find("nvme") != std::string_view::npos) text += line;
    }
    return text;
  }

 private:
  Fd fd_;
};

struct Attempt {
  int code = 0;
  std::string answer, kernel_said;
};

Attempt write_line(const std::string& node, const std::string& line) {
  Attempt attempt;
  const KernelLog log;
  const Fd fd(::open(node.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd || ::write(fd.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    attempt.code = errno;
    attempt.kernel_said = log.since();
    return attempt;
  }
  std::array<char, 512> text{};
  const auto got = ::read(fd.get(), text.data(), text.size());
  if (got > 0) attempt.answer = trim(std::string_view(text.data(), static_cast<std::size_t>(got)));
  return attempt;
}

std::vector<std::string> known_options(const std::string& node) {
  const Fd fd(::open(node.c_str(), O_RDWR | O_CLOEXEC));
  std::array<char, 4096> text{};
  const auto got = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  return got > 0 ? parse_known_options(std::string_view(text.data(), static_cast<std::size_t>(got)))
                 : std::vector<std::string>();
}

Result<std::string> attribute(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("cannot open '" + path + "'");
  std::array<char, 1024> text{};
  const auto got = ::read(fd.get(), text.data(), text.size());
  if (got < 0) return fail_errno("cannot read '" + path + "'");
  return std::string(trim(std::string_view(text.data(), static_cast<std::size_t>(got))));
}

// "traddr=10.9.0.1,trsvcid=4420,src_addr=…"; blanks instead of commas on older kernels.
std::string part_of(std::string_view address, std::string_view name) {
  for (const auto piece : words(address)) {
    for (const auto item : split(piece, ',')) {
      if (item.starts_with(name) && item.substr(name.size()).starts_with('='))
        return std::string(item.substr(name.size() + 1));
    }
  }
  return {};
}

}  // namespace

Result<std::string> fabrics_connect(const Connect& step, const std::string& node) {
  if (::access(node.c_str(), R_OK | W_OK) != 0) {
    return fail_errno("cannot use '" + node + "'", errno, "load module 'nvme-fabrics' of exactly the running kernel");
  }
  const auto known = known_options(node);
  auto attempt = write_line(node, option_line(step, known));
  if (lacks_resources(attempt.code, attempt.kernel_said) && step.nr_io_queues > 1) {
    Connect half = step;
    half.nr_io_queues = step.nr_io_queues / 2;
    attempt = write_line(node, option_line(half, known));
  }
  if (attempt.code == EALREADY) return std::string();
  if (attempt.code != 0) return tl::unexpected(connect_error(step, attempt.code, attempt.kernel_said));
  for (const auto item : split(attempt.answer, ',')) {
    constexpr std::string_view kInstance = "instance=";
    if (!item.starts_with(kInstance)) continue;
    if (const auto number = parse_number(item.substr(kInstance.size()))) return "nvme" + std::to_string(*number);
  }
  return fail("connecting '" + step.nqn + "' gave the answer '" + printable(attempt.answer) + "'", "see the kernel log");
}

Result<> fabrics_delete(const DeleteController& step, const std::string& class_folder) {
  const std::string folder = class_folder + "/" + step.name;
  const auto nqn = attribute(folder + "/subsysnqn");
  if (!nqn && is_errno(nqn.error(), ENOENT)) return {};  // gone meanwhile
  if (!nqn) return tl::unexpected(nqn.error());
  TRY(const std::string transport, attribute(folder + "/transport"));
  TRY(const std::string address, attribute(folder + "/address"));
  const bool fabric = transport == "tcp" || transport == "rdma";
  if (!fabric || *nqn != step.nqn || transport != step.transport || !same_address(part_of(address, "traddr"), step.traddr) ||
      part_of(address, "trsvcid") != step.trsvcid) {
    return fail("controller '" + step.name + "' is not '" + step.nqn + "' at '" + step.traddr + "' any more: left alone",
                "look again");
  }
  auto written = write_attribute(folder + "/delete_controller", "1");
  if (!written && (is_errno(written.error(), ENOENT) || is_errno(written.error(), ENODEV))) return {};
  return written;
}

}  // namespace nvstripe::host
