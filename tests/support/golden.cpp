// Owns reading and rewriting golden files.
#include "tests/support/golden.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace nvstripe {

std::string golden_difference(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(NVSTRIPE_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return "no golden file '" + path.string() + "'; run with UPDATE_GOLDEN=1 and review it";
  const std::string kept{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (kept == text) return {};
  return "differs from '" + path.string() + "'; it is now:\n" + text;
}

}  // namespace nvstripe
