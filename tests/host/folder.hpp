// Owns a temporary folder for tests: made at the start, emptied and removed at the end.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "agent/host/writer.hpp"

namespace nvstripe::test {

class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/nvstripe-test-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code code;
    std::vector<std::string> folders;
    for (std::filesystem::recursive_directory_iterator entry(path_, code), end; !code && entry != end;
         entry.increment(code)) {
      if (entry->is_directory(code)) folders.push_back(entry->path());
    }
    // Mount points are immutable: remove_path takes the flag off. Deepest first.
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) (void)host::remove_path(*folder);
    std::filesystem::remove_all(path_, code);
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
inline std::string get(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace nvstripe::test
