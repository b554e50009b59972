// Owns the small looks all collectors share. None of them turns "cannot see" into "absent".
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/reader.hpp"

namespace nvstripe::collectors {

// True only when the folder it would be in could be listed, has other entries and not this one: in a machine captured in
// part, an empty or missing folder proves nothing.
[[nodiscard]] bool surely_absent(const host::Reader& reader, std::string_view path);

// The same for /sys/class/<name>: every kernel of ours has "net" there, so a list without it was captured in part.
[[nodiscard]] bool is_class_absent(const host::Reader& reader, std::string_view name);

[[nodiscard]] std::optional<std::uint64_t> number(const host::Reader& reader, std::string_view path, int base = 10);

// Trimmed, and empty when it is all zeros or all ones, firmware's way to say "none".
[[nodiscard]] std::string identifier(const host::Reader& reader, std::string_view path);
[[nodiscard]] bool is_none_identifier(std::string_view text);

[[nodiscard]] std::string base_name(std::string_view path);
[[nodiscard]] std::string folder_of(std::string_view path);
[[nodiscard]] bool has_prefix(std::string_view text, std::string_view prefix);

// "nvme3": digits only after the prefix.
[[nodiscard]] bool is_numbered(std::string_view name, std::string_view prefix);

// \040 and the like, as mountinfo, swaps and fstab write blanks.
[[nodiscard]] std::string unescape_octal(std::string_view text);

}  // namespace nvstripe::collectors
