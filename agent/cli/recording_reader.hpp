// Owns RecordingReader: passes every question on to another reader and keeps the answers as a tree, so that a bundle holds
// exactly what the collectors ask for, errors included. Text is kept without what looks like a secret.
#pragma once
#include <map>
#include <string>

#include "agent/host/reader.hpp"
#include "agent/host/tree.hpp"

namespace nvstripe::cli {

// Values after words such as password=, token:, secret= are replaced by "removed".
[[nodiscard]] std::string without_secrets(const std::string& text);

class RecordingReader final : public host::Reader {
 public:
  explicit RecordingReader(const host::Reader& inner) : inner_(inner) {}
  Result<std::string> file(std::string_view path) const override;
  Result<std::string> link(std::string_view path) const override;
  Result<std::vector<std::string>> list(std::string_view folder) const override;
  Result<std::string> canonical(std::string_view path) const override;
  host::Entry entry(std::string_view path) const override;
  Result<host::Status> status(std::string_view path) const override;
  Result<std::string> output(std::string_view command, const std::vector<std::string>& devices) const override;
  // Collectors ask for more where nothing can be probed: udev's records, for one. A bundle needs that.
  bool captured() const override { return true; }

  void add(const std::string& path, std::string text);
  [[nodiscard]] host::Tree tree() const;

 private:
  [[nodiscard]] std::string resolve(std::string_view path) const;  // links on the way are kept; the last one is not followed
  [[nodiscard]] std::string keep_link(const std::string& path) const;
  void keep_file(std::string_view path, const Result<std::string>& answer) const;

  const host::Reader& inner_;
  mutable std::map<std::string, host::TreeNode> nodes_;  // by path without links
  mutable std::map<std::string, std::string> folders_;   // a folder as asked → the same without links
};

}  // namespace nvstripe::cli
