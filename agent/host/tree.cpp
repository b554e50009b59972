// Owns the tree in memory, link resolution in it, and the reader over it.
#include "agent/host/tree.hpp"

#include <algorithm>
#include <utility>

#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel's MAXSYMLINKS

std::string quoted(std::string_view verb, std::string_view path) {
  return "cannot " + std::string(verb) + " '" + std::string(path) + "'";
}

// The parts of a path, last first, on top of what is still to be walked.
void push_parts(std::vector<std::string>& rest, std::string_view path) {
  std::vector<std::string_view> parts = split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!part->empty() && *part != ".") rest.emplace_back(*part);
  }
}

}  // namespace

Result<> Tree::put(std::string_view path, TreeNode node) {
  TreeNode* place = &root_;
  std::vector<std::string> rest;
  push_parts(rest, path);
  if (rest.empty() || path.empty() || path.front() != '/')
    return fail("the path '" + std::string(path) + "' is not absolute");
  for (; rest.size() > 1; rest.pop_back()) {
    if (rest.back() == "..") return fail("the path '" + std::string(path) + "' has '..' in it");
    place = &place->children[rest.back()];
    if (place->kind != Entry::folder) return fail_errno("cannot put '" + std::string(path) + "' into the tree", ENOTDIR);
  }
  const auto [at, fresh] = place->children.try_emplace(rest.back());
  if (!fresh) {
    const bool was_implied = at->second.kind == Entry::folder && at->second.error == 0 && !at->second.status;
    if (!was_implied || node.kind != Entry::folder) return fail_errno("'" + std::string(path) + "' is there twice", EEXIST);
    node.children = std::move(at->second.children);
  }
  at->second = std::move(node);
  return {};
}

Result<Tree::Found> Tree::find(std::string_view path, bool follow_last) const {
  std::vector<std::pair<const TreeNode*, std::string>> walked{{&root_, ""}};
  std::vector<std::string> rest;
  push_parts(rest, path);
  int links = 0;
  while (!rest.empty()) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part == "..") {
      if (walked.size() > 1) walked.pop_back();
      continue;
    }
    const TreeNode& here = *walked.back().first;
    if (here.kind != Entry::folder) return fail_errno(quoted("find", path), here.unread ? ENODATA : ENOTDIR);
    const auto next = here.children.find(part);
    if (next == here.children.end()) return fail_errno(quoted("find", path), here.error != 0 ? here.error : ENOENT);
    if (next->second.kind == Entry::link && (follow_last || !rest.empty())) {
      if (++links > kMaxLinks) return fail_errno(quoted("find", path), ELOOP);
      if (!next->second.text.empty() && next->second.text.front() == '/') walked.resize(1);
      push_parts(rest, next->second.text);
      continue;
    }
    walked.emplace_back(&next->second, walked.back().second + "/" + part);
  }
  const auto& [node, where] = walked.back();
  return Found{node, where.empty() ? "/" : where};
}

namespace {

class TreeReader final : public Reader {
 public:
  explicit TreeReader(Tree tree) : tree_(std::move(tree)) {}

  Result<std::string> file(std::string_view path) const override {
    TRY(const Tree::Found found, tree_.find(path, true));
    if (found.node->error != 0) return fail_errno(quoted("read", path), found.node->error);
    if (found.node->kind == Entry::folder) return fail_errno(quoted("read", path), EISDIR);
    if (found.node->kind != Entry::file) return fail_errno(quoted("read", path), found.node->unread ? ENODATA : EINVAL);
    return found.node->text;
  }
  Result<std::string> link(std::string_view path) const override {
    TRY(const Tree::Found found, tree_.find(path, false));
    if (found.node->kind != Entry::link) return fail_errno(quoted("read the link", path), EINVAL);
    return found.node->text;
  }
  Result<std::vector<std::string>> list(std::string_view folder) const override {
    TRY(const Tree::Found found, tree_.find(folder, true));
    if (found.node->error != 0) return fail_errno(quoted("list", folder), found.node->error);
    if (found.node->kind != Entry::folder) return fail_errno(quoted("list", folder), found.node->unread ? ENODATA : ENOTDIR);
    std::vector<std::string> names;
    names.reserve(found.node->children.size());
    for (const auto& [name, child] : found.node->children) names.push_back(name);
    return names;
  }
  Result<std::string> canonical(std::string_view path) const override {
    TRY(Tree::Found found, tree_.find(path, true));
    return std::move(found.path);
  }
  Entry entry(std::string_view path) const override {
    const auto found = tree_.find(path, false);
    return found ? found->node->kind : Entry::absent;
  }
  Result<Status> status(std::string_view path) const override {
    TRY(const Tree::Found found, tree_.find(path, false));
    if (found.node->status) return *found.node->status;
    return Status{found.node->kind, found.node->kind == Entry::folder ? 0755u : 0644u, 0, 0};
  }
  Result<std::string> output(std::string_view command, const std::vector<std::string>&) const override {
    return file("/cmd/" + std::string(command));
  }
  bool captured() const override { return true; }

 private:
  Tree tree_;
};

}  // namespace

std::unique_ptr<Reader> tree_reader(Tree tree) { return std::make_unique<TreeReader>(std::move(tree)); }

Result<std::unique_ptr<Reader>> tree_reader(std::string_view tree_text) {
  TRY(Tree tree, parse_tree(tree_text));
  return tree_reader(std::move(tree));
}

}  // namespace nvstripe::host
