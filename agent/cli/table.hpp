// Owns tables and colour for people: columns as wide as their widest cell, nothing cut off, no colour in a pipe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/cli/context.hpp"

namespace nvstripe::cli {

enum class Colour { plain, good, warn, bad, strong };
[[nodiscard]] std::string paint(const Context& context, Colour colour, std::string_view text);
[[nodiscard]] Colour colour_of_state(std::string_view state);

class Table {
 public:
  explicit Table(std::vector<std::string> heads) : rows_{std::move(heads)} {}
  void add(std::vector<std::string> cells, Colour colour = Colour::plain) {
    rows_.push_back(std::move(cells));
    colours_.push_back(colour);
  }
  [[nodiscard]] bool empty() const { return rows_.size() == 1; }
  // `coloured`: the column that carries the row's colour.
  [[nodiscard]] std::string text(const Context& context, std::size_t coloured = 0) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<Colour> colours_;
};

[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace nvstripe::cli
