// Owns udev's records. The format is udev's own and has been the same since 2010: a letter, a colon, the value.
#include "collectors/udev.hpp"

#include "agent/base/text.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

std::string property(const UdevRecord& record, const std::string& name) {
  const auto found = record.properties.find(name);
  return found == record.properties.end() ? std::string() : found->second;
}

// *_ENC values carry \xNN for what is not safe in a file name; the plain ones have it replaced by "_".
std::string decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto byte = has_prefix(text, "\\x") && text.size() >= 4 ? parse_number(text.substr(2, 2), 16) : std::nullopt;
    if (byte) {
      out += static_cast<char>(*byte);
      text.remove_prefix(4);
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string encoded_property(const UdevRecord& record, const std::string& name) {
  const std::string encoded = property(record, name + "_ENC");
  return encoded.empty() ? property(record, name) : decoded(encoded);
}

}  // namespace

Result<UdevRecord> udev_record(const host::Reader& reader, const std::string& device_number) {
  if (device_number.empty()) return fail("its device number is not known, so udev's record cannot be found");
  TRY(const std::string text, reader.file("/run/udev/data/b" + device_number));
  UdevRecord record;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    const bool is_property = has_prefix(line, "E:");
    // A line that is not whole: what stood after it is not known either.
    if (line.size() < 3 || line[1] != ':' || (is_property && equals == std::string_view::npos)) {
      return fail("udev's record 'b" + device_number + "' is damaged");
    }
    if (line[0] == 'S') record.links.push_back("/dev/" + decoded(line.substr(2)));
    if (is_property) record.properties[std::string(line.substr(2, equals - 2))] = std::string(line.substr(equals + 1));
  }
  if (record.properties.empty() && record.links.empty()) {
    return fail("udev's record 'b" + device_number + "' says nothing");
  }
  return record;
}

void take_signatures(const Result<UdevRecord>& record, bool is_partition, BlockDevice& device) {
  if (!record) {
    device.look = Look::unknown;
    device.look_reason = is_errno(record.error(), ENOENT) ? "udev has no record of it" : record.error().what;
    return;
  }
  device.links = record->links;
  const std::string type = property(*record, "ID_FS_TYPE");
  // A partition inherits its disk's ID_* properties, the table's type among them: that table is not on the partition.
  const std::string table = is_partition ? std::string() : property(*record, "ID_PART_TABLE_TYPE");
  if (!type.empty()) {
    device.signatures.push_back(
        {type, encoded_property(*record, "ID_FS_UUID"), encoded_property(*record, "ID_FS_LABEL"), false});
  }
  if (!table.empty()) device.signatures.push_back({table, property(*record, "ID_PART_TABLE_UUID"), {}, false});
  device.look = device.signatures.empty() ? Look::none : Look::found;
  device.look_reason.clear();
  const bool is_nameless = type.empty() && record->properties.count("ID_FS_TYPE") != 0;
  if (is_nameless && device.look == Look::none) {
    device.look = Look::unknown;
    device.look_reason = "udev found a signature without a name";
  }
  // Two signatures between which blkid could not choose.
  const std::string ambivalent = property(*record, "ID_FS_AMBIVALENT");
  if (!ambivalent.empty() || type == "ambivalent") {
    device.look = Look::ambiguous;
    device.look_reason = "udev found more than one signature: '" + printable(ambivalent) + "'";
  }
}

}  // namespace nvstripe::collectors
