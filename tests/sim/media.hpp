// Owns what simulated drives carry, apart from the machine they are attached to: it outlives reboots, and drives of a target
// are seen by whoever connects. A write to precious media ends the test.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"

namespace nvstripe::sim {

// A law was broken; no code under test catches it.
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

struct Media {
  std::vector<Signature> signatures;
  bool data = false;      // sampled ranges are not zero
  bool precious = false;  // not ours, or a user's data
  std::string pv_uuid, vg;
  bool operator==(const Media&) const = default;
};
using MediaPtr = std::shared_ptr<Media>;

inline MediaPtr blank_media() { return std::make_shared<Media>(); }

struct Drive {
  BlockDevice device;  // what does not change: key, identity, kind, size
  MediaPtr media;
  Look forced_look = Look::none;  // ambiguous or unknown: the look says that whatever is there
};

struct TargetNamespaceOf {
  std::uint32_t nsid = 0;
  std::string uuid;
  MediaPtr media;
};
struct Target {  // another machine
  std::string connection, address, nqn;
  std::vector<TargetNamespaceOf> namespaces;
  bool up = true;
  bool tcp_only = false;
};

struct Group {  // LVM metadata; it lies on the PVs, so it outlives reboots
  std::string name, uuid;
  std::vector<std::string> tags;
  std::vector<DeviceKey> members;
  struct Volume {
    std::string name;
    std::vector<std::string> tags;
    std::uint32_t stripes = 0;
    Bytes stripe, size;
    MediaPtr media;
  };
  std::vector<Volume> volumes;
};

}  // namespace nvstripe::sim
