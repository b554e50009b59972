// Owns the loading and printing of captured machines for the tests of this folder.
#include "tests/collectors/host_fixture.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "agent/base/text.hpp"
#include "agent/engine/observe.hpp"
#include "agent/model/guard.hpp"

namespace nvstripe::fixture {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(NVSTRIPE_SOURCE_DIR) / "tests/fixtures/hosts";

[[noreturn]] void stop(const std::string& why) {
  std::cerr << "fixture: " << why << '\n';
  std::abort();
}

std::string keys(const std::vector<DeviceKey>& list) {
  std::vector<std::string> texts;
  for (const DeviceKey& key : list) texts.push_back(key.text);
  return join(texts, " ");
}

void add(std::string& out, const std::string& name, const std::string& value) {
  if (!value.empty()) out += "  " + name + ": " + printable(value) + "\n";
}

void add_device(std::string& out, const Inventory& seen, const BlockDevice& device) {
  out += device.kernel_name + " " + device.key.text + "\n";
  add(out, "kind", std::string(to_text(device.kind)) + ", " + device.evidence);
  add(out, "usable", usable(seen, device.kernel_name));
  add(out, "size", std::to_string(device.size.count) + ", block " + std::to_string(device.logical_block));
  add(out, "model", device.model);
  add(out, "serial", device.serial);
  add(out, "reached", device.transport + " " + join(device.controllers, " ") + " " + join(device.paths, " "));
  add(out, "look", std::string(to_text(device.look)) + (device.look_reason.empty() ? "" : ", " + device.look_reason));
  for (const Signature& signature : device.signatures) {
    add(out, "signature", signature.type + " " + signature.uuid + " " + signature.label);
  }
  add(out, "holders", keys(device.holders));
  add(out, "slaves", keys(device.slaves));
  add(out, "mounted", join(device.mount_points, " ") + (device.swap ? " swap" : ""));
}

template <class T>
void add_facet(std::string& out, const std::string& name, const Facet<T>& facet) {
  out += name + ": " + (facet.is_known() ? "known" : "cannot see: " + facet.reason()) + "\n";
}

}  // namespace

std::vector<std::string> host_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".tree") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string tree_of(const std::string& name) {
  std::ifstream file(kFolder / (name + ".tree"), std::ios::binary);
  if (!file) stop("no host tree '" + name + "'");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Inventory look_at(const host::Reader& reader, const Spec& spec) {
  Inventory seen = observe(reader, spec);
  seen.records = Facet<Records>::known({});
  seen.targets = Facet<std::vector<TargetView>>::known({});
  return seen;
}

Inventory look_at_text(const std::string& tree_text, const Spec& spec) {
  const auto reader = host::tree_reader(tree_text);
  if (!reader) stop(reader.error().what);
  return look_at(**reader, spec);
}

Inventory look_at(const std::string& name, const Spec& spec) { return look_at_text(tree_of(name), spec); }

const BlockDevice& device(const Inventory& seen, const std::string& kernel_name) {
  const BlockDevice* found = seen.find_kernel_name(kernel_name);
  if (found == nullptr) stop("no device '" + kernel_name + "'");
  return *found;
}

std::string usable(const Inventory& seen, const std::string& kernel_name) {
  std::vector<std::string> ids;
  for (const guard::Veto& veto : guard::unusable(device(seen, kernel_name), seen)) ids.push_back(veto.id);
  return ids.empty() ? "yes" : join(ids, " ");
}

std::string summary(const Inventory& seen) {
  std::string out;
  add_facet(out, "blocks", seen.blocks);
  add_facet(out, "controllers", seen.controllers);
  add_facet(out, "exports", seen.exports);
  add_facet(out, "arrays", seen.arrays);
  add_facet(out, "lvm", seen.lvm);
  add_facet(out, "mounts", seen.mounts);
  add_facet(out, "units", seen.units);
  add_facet(out, "links", seen.links);
  add_facet(out, "rdma", seen.rdma);
  add_facet(out, "kernel", seen.kernel);
  add_facet(out, "tools", seen.tools);
  add_facet(out, "identity", seen.identity);
  add_facet(out, "sysctls", seen.sysctls);
  out += "host: " + to_text(seen.identity.value().computed) + " provider '" + seen.identity.value().provider + "'\n";
  for (const std::string& note : seen.notes) out += "note: " + printable(note) + "\n";
  for (const BlockDevice& device : seen.blocks.value()) add_device(out, seen, device);
  for (const MdArray& array : seen.arrays.value()) {
    out += array.kernel_name + " array " + array.uuid + " " + array.level + " " + array.state + "\n";
    for (const ArrayMember& member : array.members)
      add(out, "member", member.device.text + " " + member.slot + " " + member.state);
  }
  return out;
}

}  // namespace nvstripe::fixture
