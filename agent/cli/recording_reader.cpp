// Owns how answers become a tree: links are kept where they lie, contents at the path without links.
#include "agent/cli/recording_reader.hpp"

#include <regex>

#include "agent/base/text.hpp"

namespace nvstripe::cli {
namespace {

using host::Entry;
using host::TreeNode;

int errno_of(const Error& error) {
  return error.cause.category() == std::system_category() && error.cause.value() != 0 ? error.cause.value() : EIO;
}

TreeNode error_node(int code) {
  TreeNode node;
  node.kind = Entry::file;
  node.error = code;
  return node;
}

}  // namespace

std::string without_secrets(const std::string& text) {
  static const std::regex kSecret(
      R"(((?:pass(?:word|wd|phrase)?|secret|token|psk|credentials?|api_?key)[a-z_]*["']?\s*[=:]\s*)[^\s,;]+)",
      std::regex::icase | std::regex::optimize);
  return std::regex_replace(text, kSecret, "$1removed");
}

Result<std::string> RecordingReader::file(std::string_view path) const {
  auto answer = inner_.file(path);
  keep_file(path, answer);
  return answer;
}

void RecordingReader::keep_file(std::string_view path, const Result<std::string>& answer) const {
  std::string place = resolve(path);
  for (int depth = 0; depth < 8 && inner_.entry(place) == Entry::link; ++depth) {
    const std::string next = keep_link(place);
    if (next.empty()) return;
    place = next;
  }
  if (answer) {
    TreeNode node;
    node.kind = Entry::file;
    node.text = without_secrets(*answer);
    if (path == "/etc/machine-id") node.text = std::string(32, '0') + "\n";  // systemd's manual: it is confidential
    nodes_[place] = std::move(node);
  } else if (errno_of(answer.error()) != ENOENT) {
    nodes_[place] = error_node(errno_of(answer.error()));
  }
}

// Keeps the link at `path` and gives the path without links that it leads to; empty when it leads nowhere.
std::string RecordingReader::keep_link(const std::string& path) const {
  const auto target = inner_.link(path);
  if (!target) return {};
  TreeNode node;
  node.kind = Entry::link;
  node.text = *target;
  nodes_[path] = std::move(node);
  const auto end = inner_.canonical(path);
  if (!end) return {};
  (void)resolve(*end + "/x");
  return *end;
}

std::string RecordingReader::resolve(std::string_view path) const {
  std::string place, asked;
  const auto parts = split(path, '/');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    if (i + 1 == parts.size()) return place + "/" + std::string(parts[i]);
    asked += "/" + std::string(parts[i]);
    const auto known = folders_.find(asked);
    if (known == folders_.end()) {
      std::string next = place + "/" + std::string(parts[i]);
      if (inner_.entry(next) == Entry::link)
        if (std::string end = keep_link(next); !end.empty()) next = std::move(end);
      folders_[asked] = next;
      place = std::move(next);
    } else {
      place = known->second;
    }
  }
  return place.empty() ? "/" : place;
}

Result<std::string> RecordingReader::link(std::string_view path) const {
  auto answer = inner_.link(path);
  if (answer) (void)keep_link(resolve(path));
  return answer;
}

Result<std::vector<std::string>> RecordingReader::list(std::string_view folder) const {
  auto answer = inner_.list(folder);
  const std::string probe = resolve(std::string(folder) + "/x");
  const std::string place = probe.substr(0, probe.size() - 2);
  if (!answer) {
    if (errno_of(answer.error()) != ENOENT) nodes_.try_emplace(place, error_node(errno_of(answer.error())));
    return answer;
  }
  if (place.empty()) return answer;
  nodes_.try_emplace(place, TreeNode{});
  for (const std::string& name : *answer) {
    const std::string child = place + "/" + name;
    if (nodes_.contains(child)) continue;
    if (inner_.entry(child) == Entry::link) {
      (void)keep_link(child);
      continue;
    }
    TreeNode unread;
    unread.kind = Entry::other;
    unread.unread = true;
    nodes_.emplace(child, std::move(unread));
  }
  return answer;
}

Result<std::string> RecordingReader::canonical(std::string_view path) const {
  auto answer = inner_.canonical(path);
  const std::string place = resolve(path);
  if (inner_.entry(place) == Entry::link)
    (void)keep_link(place);
  else
    (void)entry(path);
  return answer;
}

Entry RecordingReader::entry(std::string_view path) const {
  const Entry kind = inner_.entry(path);
  const std::string place = resolve(path);
  if (kind == Entry::link) (void)keep_link(place);
  if (kind == Entry::folder) {
    TreeNode& node = nodes_[place];
    if (node.unread) node = TreeNode{};
  }
  return kind;
}

Result<host::Status> RecordingReader::status(std::string_view path) const {
  auto answer = inner_.status(path);
  if (!answer) return answer;
  (void)entry(path);
  const std::string place = resolve(path);
  TreeNode& node = nodes_[place];
  if (node.unread) node.kind = answer->kind;
  if (answer->kind != Entry::link) node.status = *answer;
  return answer;
}

Result<std::string> RecordingReader::output(std::string_view command, const std::vector<std::string>& devices) const {
  auto answer = inner_.output(command, devices);
  const std::string place = "/cmd/" + std::string(command);
  if (answer) {
    TreeNode node;
    node.kind = Entry::file;
    node.text = without_secrets(*answer);
    nodes_[place] = std::move(node);
  } else if (errno_of(answer.error()) != ENOENT) {
    nodes_[place] = error_node(errno_of(answer.error()));
  }
  return answer;
}

void RecordingReader::add(const std::string& path, std::string text) {
  TreeNode node;
  node.kind = Entry::file;
  node.text = without_secrets(text);
  nodes_[path] = std::move(node);
}

host::Tree RecordingReader::tree() const {
  host::Tree tree;
  // By path, so that folders come before what lies in them; what was only listed gives way to what was implied.
  for (const auto& [path, node] : nodes_) {
    if (!node.unread) (void)tree.put(path, node);
  }
  for (const auto& [path, node] : nodes_)
    if (node.unread) (void)tree.put(path, node);  // EEXIST: it was read after all
  return tree;
}

}  // namespace nvstripe::cli
