// Owns the fields of a block device's `stat` and `inflight`.
#include "agent/host/io_counts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

std::string small_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> text{};
  const auto got = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
  return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : std::string();
}

}  // namespace

std::optional<IoCounts> parse_io_counts(std::string_view stat, std::string_view inflight) {
  std::array<std::uint64_t, 17> fields{};
  const auto texts = words(stat);
  if (texts.size() < 11) return std::nullopt;
  for (std::size_t i = 0; i < texts.size() && i < fields.size(); ++i) {
    const auto value = parse_number(texts[i]);
    if (!value) return std::nullopt;
    fields[i] = *value;
  }
  IoCounts io;
  io.reads = fields[0];
  io.read_sectors = fields[2];
  io.read_ms = fields[3];
  io.writes = fields[4];
  io.written_sectors = fields[6];
  io.write_ms = fields[7];
  io.busy_ms = fields[9];
  io.weighted_ms = fields[10];
  io.discards = fields[11];
  io.flush_ms = fields[16];
  const auto under_way = words(inflight);
  if (under_way.size() == 2) {
    io.reads_in_flight = parse_number(under_way[0]).value_or(0);
    io.writes_in_flight = parse_number(under_way[1]).value_or(0);
  }
  return io;
}

std::optional<IoCounts> io_counts(const std::string& folder, std::uint64_t diskseq) {
  if (diskseq != 0 && parse_number(trim(small_file(folder + "/diskseq"))) != diskseq) return std::nullopt;
  return parse_io_counts(small_file(folder + "/stat"), small_file(folder + "/inflight"));
}

}  // namespace nvstripe::host
