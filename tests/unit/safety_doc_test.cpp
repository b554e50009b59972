// Owns the check that docs/safety.md is true: tests and scenarios that it names exist, and its table is the guard's.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "agent/model/guard.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

namespace {

const std::filesystem::path kRoot = NVSTRIPE_SOURCE_DIR;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::set<std::string> test_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot / "tests")) {
    if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
    const std::string text = text_of(entry.path()), begin = "TEST_CASE(\"";
    for (auto at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
      const auto from = at + begin.size();
      names.insert(text.substr(from, text.find('"', from) - from));
    }
  }
  return names;
}

std::string table() {
  std::string out = "\n| veto | law | when | remedy |\n|---|---|---|---|\n";
  for (const guard::Rule& rule : guard::rules()) {
    out += "| `" + std::string(rule.id) + "` | " + std::to_string(rule.law) + " | " + std::string(rule.summary) + " | " +
           std::string(rule.remedy) + " |\n";
  }
  return out + "\n";
}

}  // namespace

TEST_CASE("docs/safety.md names tests and scenarios that exist, for each of the twelve laws") {
  const std::set<std::string> names = test_names();
  std::istringstream lines(text_of(kRoot / "docs/safety.md"));
  int law = 0;
  std::set<int> held;
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    if (line.starts_with("## ")) law = std::atoi(line.c_str() + 3);
    if (line.starts_with("- test: ")) {
      CHECK(names.contains(line.substr(8)));
      held.insert(law);
    }
    if (line.starts_with("- lab: "))
      CHECK(std::filesystem::exists(kRoot / "tests/lab/scenarios" / (line.substr(7) + ".py")));
  }
  CHECK(held == std::set<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
}

TEST_CASE("docs/safety.md holds the guard's table, and the guard gives no veto beside it") {
  const std::string begin = "<!-- made from the table: begin -->\n", end = "<!-- made from the table: end -->";
  const std::string text = text_of(kRoot / "docs/safety.md");
  const auto from = text.find(begin) + begin.size(), to = text.find(end);
  REQUIRE(to != std::string::npos);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(kRoot / "docs/safety.md") << text.substr(0, from) << table() << text.substr(to);
  } else {
    CHECK(text.substr(from, to - from) == table());
  }
  std::set<std::string> ids;
  for (const guard::Rule& rule : guard::rules()) ids.insert(std::string(rule.id));
  for (const char* name : {"guard.cpp", "guard_judge.cpp", "guard_steps.cpp"}) {
    const std::string source = text_of(kRoot / "agent/model" / name);
    for (const std::string call : {"veto(\"", "add(out, \""}) {
      for (auto at = source.find(call); at != std::string::npos; at = source.find(call, at + 1)) {
        const auto start = at + call.size();
        const std::string id = "guard." + source.substr(start, source.find('"', start) - start);
        INFO(name << ": " << id);
        CHECK(ids.contains(id));
      }
    }
  }
}

TEST_CASE("laws named in the guard's table are those of docs/safety.md") {
  const std::string text = text_of(kRoot / "docs/safety.md");
  for (const guard::Rule& rule : guard::rules())
    CHECK(text.find("\n## " + std::to_string(rule.law) + ". ") != std::string::npos);
}
