// Owns what one share (a drive, or a slice of it) means for one host: the ledger entry it has or gets, and why it cannot be
// served as things are. Also who owns which slice of a drive. Used by export_wishes alone.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/model/guard.hpp"
#include "configurators/export_wishes.hpp"

namespace nvstripe::configure {

struct ShareContext {
  const Spec& spec;
  const Inventory& seen;
  Uuid host;
  bool settled = true;  // host identity
};

struct Share {
  DeviceKey drive;
  std::uint32_t slice = 0;
  DeviceKey backing;
  bool owned_by_tag = false;  // the slice's LV says that it is this host's
};

// record.nsid is 0 where a new one is to be given.
[[nodiscard]] NamespaceWish wish_for(const ShareContext& context, const SubsystemWish& subsystem, const Share& share);
// The highest id that was ever given out in the subsystem, by ledger and configfs.
[[nodiscard]] std::uint32_t highest_nsid(const Inventory& seen, const std::string& nqn);

struct SliceOwner {
  std::string host_nqn;
  bool by_tag = false;
};
struct SliceOwners {
  std::map<std::uint32_t, SliceOwner> owner;  // slice → allowed host
  std::vector<std::string> without;           // allowed hosts that found too few free slices
};
// Ledger first, then LV tags, then free slices in the order of the allow list, so that inserting an entry moves none.
[[nodiscard]] SliceOwners owners_of_slices(const ShareContext& context, const ExportSpec& wanted, const DeviceKey& drive,
                                           const std::string& group);

}  // namespace nvstripe::configure
