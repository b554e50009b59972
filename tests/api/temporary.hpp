// Owns a folder that lives as long as a test.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace nvstripe::test {

class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/nvstripe-test-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code code;
    std::filesystem::remove_all(root_, code);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path(const std::string& name = {}) const { return name.empty() ? root_ : root_ + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path(name);
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::remove(file);
    std::ofstream(file) << text;
  }

 private:
  std::string root_;
};

}  // namespace nvstripe::test
