// Owns the host's identity as found: DMI, machine-id, provider, place. Never asks the network: metadata services belong to
// nobody's boot. Never makes up an identity: unreadable DMI leaves it empty, since a guess would change it later.
#include <boost/json.hpp>

#include <array>

#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kDmi = "/sys/class/dmi/id/";
constexpr std::string_view kInstanceData = "/run/cloud-init/instance-data.json";

// Product UUIDs that many machines share, left by firmware vendors' templates.
constexpr std::array<std::string_view, 5> kSharedUuids{
    "03000200-0400-0500-0006-000700080009", "00020003-0004-0005-0006-000700080009", "12345678-1234-5678-90ab-cddeefaabbcc",
    "12345678-1234-1234-1234-123456789abc", "4c4c4544-0000-2010-8020-80c04f202020"};

bool is_sane(const Uuid& uuid) {
  if (uuid.is_none()) return false;
  bool same = true;
  for (const std::uint8_t byte : uuid.bytes) same = same && byte == uuid.bytes[0];
  if (same) return false;
  for (const std::string_view shared : kSharedUuids) {
    if (to_text(uuid) == shared) return false;
  }
  return true;
}

std::string provider_of(const host::Reader& reader) {
  const std::string vendor = reader.attribute(std::string(kDmi) + "sys_vendor");
  const std::string product = reader.attribute(std::string(kDmi) + "product_name");
  const std::string chassis = reader.attribute(std::string(kDmi) + "chassis_asset_tag");
  const std::string bios = reader.attribute(std::string(kDmi) + "bios_version");
  if (vendor == "Amazon EC2" || bios.find("amazon") != std::string::npos) return "aws";
  // The tag tells Azure from any other Hyper-V; every Azure VM has the same one.
  if (chassis == "7783-7084-3265-9085-8269-3286-77") return "azure";
  if (vendor == "Google" && product == "Google Compute Engine") return "gcp";
  if (chassis == "OracleCloud.com") return "oci";
  if (vendor == "QEMU") return "qemu";
  return {};
}

std::string json_text(const boost::json::value& root, std::string_view first, std::string_view second) {
  const auto* top = root.if_object();
  const auto* inner = top == nullptr ? nullptr : top->if_contains(first);
  const auto* object = inner == nullptr ? nullptr : inner->if_object();
  const auto* leaf = object == nullptr ? nullptr : object->if_contains(second);
  const auto* text = leaf == nullptr ? nullptr : leaf->if_string();
  return text == nullptr ? std::string() : std::string(text->data(), text->size());
}

// From what cloud-init left on disk: its file for everybody has no secrets in it.
std::string availability_zone(const host::Reader& reader) {
  const auto text = reader.file(kInstanceData);
  if (!text) return {};
  boost::system::error_code code;
  const boost::json::value root = boost::json::parse(*text, code);
  if (code) return {};
  const std::string zone = json_text(root, "v1", "availability_zone");
  return zone == "None" || zone == "null" ? std::string() : zone;
}

// 128 bits of HMAC keyed by the machine-id, which itself must not leave the machine (machine-id(5)).
Uuid from_machine_id(const Uuid& machine) {
  Uuid host;
  const std::array<std::uint64_t, 2> halves{derive64(machine, "nvstripe host", "high"),
                                            derive64(machine, "nvstripe host", "low")};
  for (std::size_t i = 0; i < host.bytes.size(); ++i) {
    host.bytes[i] = static_cast<std::uint8_t>(halves[i / 8] >> (56u - 8u * (i % 8u)));
  }
  return host;
}

// The product UUID; empty where there is none that is sane. False: there may be one, and it could not be read.
bool product_uuid(const host::Reader& reader, HostIdentity& identity, Inventory& seen) {
  const std::string path = std::string(kDmi) + "product_uuid";
  const auto text = reader.file(path);
  if (!text) {
    if (is_errno(text.error(), ENOENT)) return true;
    seen.notes.push_back(text.error().what + "; the host identity needs root");
    return false;
  }
  const auto uuid = parse_uuid(trim(*text));
  if (uuid && is_sane(*uuid))
    identity.product_uuid = to_text(*uuid);
  else
    seen.notes.push_back("the DMI product UUID '" + printable(trim(*text)) + "' is shared by many machines and not used");
  return true;
}

}  // namespace

void observe_identity(const host::Reader& reader, const Spec& spec, Inventory& seen) {
  HostIdentity identity;
  if (spec.node.host_id) identity.from_spec = *spec.node.host_id;
  identity.provider = provider_of(reader);
  identity.availability_zone = availability_zone(reader);
  identity.boot_id = reader.attribute("/proc/sys/kernel/random/boot_id");
  identity.hostname = reader.attribute("/proc/sys/kernel/hostname");
  if (identity.hostname.empty()) identity.hostname = reader.attribute("/etc/hostname");
  identity.machine_id = reader.attribute("/etc/machine-id");
  identity.hostnqn_file = reader.attribute("/etc/nvme/hostnqn");
  const bool complete = product_uuid(reader, identity, seen);
  const auto machine = parse_uuid(identity.machine_id);  // "uninitialized" before the first boot is done
  if (!identity.product_uuid.empty())
    identity.computed = *parse_uuid(identity.product_uuid);
  else if (complete && machine && !machine->is_none())
    identity.computed = from_machine_id(*machine);
  seen.identity = Facet<HostIdentity>::known(std::move(identity));
}

}  // namespace nvstripe::collectors
