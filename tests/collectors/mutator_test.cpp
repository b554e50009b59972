// The shared mutator: every file of every captured machine is taken away, cut, filled with rubbish or made unreadable, one
// at a time. Nothing may crash, and no device may become usable that was not (law 9): damage takes evidence away.
#include <set>

#include "agent/base/text.hpp"
#include "agent/host/tree.hpp"
#include "agent/model/guard.hpp"
#include "tests/collectors/host_fixture.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

using host::Entry;
using host::TreeNode;

void collect(TreeNode& node, std::vector<TreeNode*>& files) {
  for (auto& [name, child] : node.children) {
    if (child.kind == Entry::file) files.push_back(&child);
    collect(child, files);
  }
}

std::set<std::string> usable_devices(const Inventory& seen) {
  std::set<std::string> names;
  for (const BlockDevice& device : seen.blocks.value()) {
    if (guard::unusable(device, seen).empty()) names.insert(device.kernel_name);
  }
  return names;
}

Inventory look(const host::Tree& tree) { return fixture::look_at(*host::tree_reader(tree)); }

using Change = void (*)(TreeNode&);

void take_away(TreeNode& node) {
  node.kind = Entry::other;
  node.unread = true;
}
void cut(TreeNode& node) { node.text.resize(node.text.size() / 2); }
void empty(TreeNode& node) { node.text.clear(); }
void fill(TreeNode& node) { node.text = "\xff\xfe{[]}\t-1 \"\\x00\n\n"; }
void break_it(TreeNode& node) { node.error = EIO; }

// Damages each file in each of the ways, and puts it back. What became usable by it; empty when all is well.
std::string usable_by_damage(const std::string& name, const std::vector<Change>& changes) {
  auto tree = host::parse_tree(fixture::tree_of(name));
  REQUIRE(tree.has_value());
  const std::set<std::string> before = usable_devices(look(*tree));
  std::vector<TreeNode*> files;
  collect(tree->root(), files);
  REQUIRE(files.size() > 50);
  std::string wrong;
  for (TreeNode* file : files) {
    const TreeNode kept = *file;
    for (const Change change : changes) {
      change(*file);
      const Inventory seen = look(*tree);
      *file = kept;
      for (const std::string& usable : usable_devices(seen)) {
        if (before.count(usable) == 1) continue;
        wrong += "'" + usable + "' by damage to a file with '" + kept.text + "'\n";
      }
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("damage to any one file of a captured machine crashes nothing and makes no device usable") {
  for (const char* name : {"aws-i4i", "multipath-on", "storage", "compute-lvm"}) {
    CAPTURE(name);
    CHECK(usable_by_damage(name, {take_away, cut, empty, fill, break_it}) == "");
  }
  CHECK(usable_by_damage("bare-metal", {cut, break_it}) == "");  // the largest
}

TEST_CASE("a facet whose source is damaged is unavailable, never an empty list that is known") {
  const auto seen_without = [](const std::string& name, const std::string& path, Change change) {
    auto tree = host::parse_tree(fixture::tree_of(name));
    REQUIRE(tree.has_value());
    std::vector<std::string_view> parts = split(std::string_view(path).substr(1), '/');
    TreeNode* node = &tree->root();
    for (const std::string_view part : parts) node = &node->children.find(part)->second;
    change(*node);
    return look(*tree);
  };
  const std::string target = "/sys/kernel/config/nvmet/subsystems";
  CHECK_FALSE(seen_without("storage", target, break_it).exports.is_known());
  CHECK_FALSE(seen_without("storage", "/sys/block", break_it).blocks.is_known());
  CHECK_FALSE(seen_without("storage", "/sys/block", break_it).arrays.is_known());
  CHECK_FALSE(seen_without("storage", "/sys/class/nvme", break_it).controllers.is_known());
  CHECK_FALSE(seen_without("storage", "/proc/self/mountinfo", break_it).mounts.is_known());
  CHECK_FALSE(seen_without("storage", "/proc/self/mountinfo", empty).mounts.is_known());
  CHECK_FALSE(seen_without("storage", "/proc/self/mountinfo", fill).mounts.is_known());
  CHECK_FALSE(seen_without("storage", "/proc/swaps", fill).mounts.is_known());
  CHECK_FALSE(seen_without("storage", "/sys/class/net", break_it).links.is_known());
  CHECK_FALSE(seen_without("storage", "/cmd/ip.addr", fill).links.is_known());
  CHECK_FALSE(seen_without("storage", "/etc/systemd/system", break_it).units.is_known());
  CHECK_FALSE(seen_without("storage", "/usr/sbin", break_it).tools.is_known());
  CHECK_FALSE(seen_without("compute-lvm", "/sys/class/infiniband", break_it).rdma.is_known());
  CHECK_FALSE(seen_without("compute-lvm", "/cmd/lvm.lvs", cut).lvm.is_known());
}

}  // namespace nvstripe
