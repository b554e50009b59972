// Proves that docs/tuning.md says what the table of settings says, and that the packaged udev rule says what is claimed.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "configurators/tuning.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;

namespace {

std::string source(const std::string& path) {
  std::ifstream file(std::string(NVSTRIPE_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("docs/tuning.md has the row of each setting, word for word, and no other") {
  const std::string text = source("docs/tuning.md");
  for (const TuningRow& row : tuning_table()) {
    const std::string line = fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.where, row.value, row.reason);
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(std::count(text.begin(), text.end(), '`') > 0);
  std::size_t rows = 0;
  for (std::size_t at = text.find("\n| `"); at != std::string::npos; at = text.find("\n| `", at + 1)) ++rows;
  CHECK(rows == tuning_table().size());
}

TEST_CASE("the packaged rule keeps md's assembly off our arrays and sets nothing else") {
  const std::string text = source("systemd/62-nvstripe.rules");
  CHECK(text.find("ENV{ID_FS_LABEL}==\"nvs-*\", ENV{ANACONDA}=\"1\"\n") != std::string::npos);
  CHECK(text.find("ENV{ID_FS_LABEL}==\"*:nvs-*\", ENV{ANACONDA}=\"1\"\n") != std::string::npos);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    for (const char* other : {"SYSTEMD_READY", "DM_MULTIPATH_DEVICE_PATH", "RUN", "SYMLINK", "PROGRAM", "IMPORT"})
      CHECK(line.find(other) == std::string::npos);
  }
}

TEST_CASE("the initramfs hook takes both rule files") {
  const std::string text = source("packaging/initramfs-hook");
  CHECK(text.starts_with("#!/bin/sh\n"));
  CHECK(text.find("62-nvstripe.rules") != std::string::npos);
  CHECK(text.find("/etc/udev/rules.d/62-nvstripe-exports.rules") != std::string::npos);
}
