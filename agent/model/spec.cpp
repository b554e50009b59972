// Owns look-ups in a Spec and the words of its choices, as the YAML spells them.
#include "agent/model/spec.hpp"

namespace nvstripe {

const ConnectionSpec* Spec::connection(const std::string& name) const {
  for (const ConnectionSpec& candidate : connections) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

const VolumeSpec* Spec::volume(const std::string& name) const {
  for (const VolumeSpec& candidate : volumes) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

const ExportSpec* Spec::find_export(const std::string& name) const {
  for (const ExportSpec& candidate : exports) {
    if (candidate.name == name) return &candidate;
  }
  return nullptr;
}

bool Spec::wants_nothing() const { return exports.empty() && connections.empty() && volumes.empty(); }

std::string_view to_text(Transport transport) {
  switch (transport) {
    case Transport::automatic:
      return "auto";
    case Transport::rdma:
      return "rdma";
    case Transport::tcp:
      return "tcp";
  }
  return "unknown";
}

std::string_view to_text(Stack stack) { return stack == Stack::md ? "md" : "lvm"; }

std::string_view to_text(Workload workload) {
  switch (workload) {
    case Workload::streaming:
      return "streaming";
    case Workload::random:
      return "random";
    case Workload::checkpoint:
      return "checkpoint";
  }
  return "unknown";
}

}  // namespace nvstripe
