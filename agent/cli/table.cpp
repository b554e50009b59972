// Owns how tables are laid out.
#include "agent/cli/table.hpp"

#include <algorithm>

#include "agent/base/units.hpp"

namespace nvstripe::cli {
namespace {

std::size_t width_of(std::string_view text) {  // code points; wide characters are not counted double
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace

std::string paint(const Context& context, Colour colour, std::string_view text) {
  static constexpr const char* kCodes[] = {"", "\033[32m", "\033[33m", "\033[31m", "\033[1m"};
  if (!context.colour || colour == Colour::plain || text.empty()) return std::string(text);
  return kCodes[static_cast<int>(colour)] + std::string(text) + "\033[0m";
}

Colour colour_of_state(std::string_view state) {
  for (const std::string_view good : {"mounted", "serving", "live", "yes"})
    if (state == good) return Colour::good;
  for (const std::string_view bad : {"refused", "data_lost", "degraded", "dead", "missing", "unreachable", "silent"})
    if (state == bad) return Colour::bad;
  for (const std::string_view plain : {"released", "unclaimed", "held", "no", ""})
    if (state == plain) return Colour::plain;
  return Colour::warn;
}

std::string Table::text(const Context& context, std::size_t coloured) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string cell = i < rows_[r].size() ? (rows_[r][i].empty() ? "-" : rows_[r][i]) : "-";
      const Colour colour = r == 0 ? Colour::strong : (i == coloured ? colours_[r - 1] : Colour::plain);
      line += paint(context, colour, cell);
      if (i + 1 < widths.size()) line.append(widths[i] - width_of(cell) + 2, ' ');
    }
    out += line + "\n";
  }
  return out;
}

std::string size_text(std::uint64_t bytes) { return bytes == 0 ? std::string() : to_text(Bytes{bytes}); }

}  // namespace nvstripe::cli
