// Owns Tree: a captured machine in memory, and its text form (docs/host-tree.md): folders, links, files and read errors.
// Resolves links within itself only. Never touches the disk.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/host/reader.hpp"

namespace nvstripe::host {

struct TreeNode {
  Entry kind = Entry::folder;
  std::string text;     // of a file its bytes, of a link its target
  int error = 0;        // reading or listing it fails with this errno; ENODATA: was not captured
  bool unread = false;  // its name was listed, and nobody looked at it
  std::optional<Status> status;
  std::map<std::string, TreeNode, std::less<>> children;
};

class Tree {
 public:
  // Parents are made as folders. EEXIST: another entry is there already.
  Result<> put(std::string_view path, TreeNode node);
  // The node as it is, links followed only on the way (or at the end too), with the path it was found at.
  struct Found {
    const TreeNode* node = nullptr;
    std::string path;
  };
  [[nodiscard]] Result<Found> find(std::string_view path, bool follow_last) const;
  [[nodiscard]] TreeNode& root() { return root_; }
  [[nodiscard]] const TreeNode& root() const { return root_; }

 private:
  TreeNode root_;
};

[[nodiscard]] std::unique_ptr<Reader> tree_reader(Tree tree);
[[nodiscard]] Result<Tree> parse_tree(std::string_view text);
[[nodiscard]] std::string to_text(const Tree& tree);

}  // namespace nvstripe::host
