// Owns the question "is this ours?" for arrays, groups, units and half-made content, as the guard asks it. Pure; only
// identity written on devices, tags and names counts, never that something merely looks like what we would make.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::guard {

inline constexpr std::string_view kOurSubsystems = "nqn.2026-11.io.nvstripe:";

[[nodiscard]] bool is_our_group(std::string_view vg, const Spec& spec, const Inventory& seen);
[[nodiscard]] bool is_our_unit(std::string_view unit, const Spec& spec, const Inventory& seen);
[[nodiscard]] bool is_our_mount_path(std::string_view path, const Spec& spec, const Inventory& seen);
[[nodiscard]] std::string mount_unit_name(std::string_view path);  // as systemd-escape --path --suffix=mount

// Whether this is an array or logical volume of ours, by its key alone (it need not exist yet).
[[nodiscard]] bool is_our_stack(const DeviceKey& key, const Spec& spec, const Inventory& seen);

// The volume record whose unfinished creation explains every signature found on the device; nullptr: none does.
[[nodiscard]] const VolumeRecord* unfinished_owner(const BlockDevice& device, const Inventory& seen);
// Whether the device is a physical volume of a slice group of ours.
[[nodiscard]] bool is_our_slice_drive(const BlockDevice& device, const Spec& spec, const Inventory& seen);

// "/dev/…" for texts and references alike; references print as their key.
[[nodiscard]] std::string text_of(const Arg& arg);
[[nodiscard]] std::string program_of(const Run& run);  // file name of argv[0]; for `lvm X` it is X

// The volume whose member it is by the records, whatever it carries now; nullptr: none.
[[nodiscard]] const VolumeRecord* volume_with(const DeviceKey& key, const Records& records);

// Labelled as nvstripe labels members and groups: without our identity it is another host's, and no consent covers that.
[[nodiscard]] bool is_named_as_ours(const BlockDevice& device, const Inventory& seen);

}  // namespace nvstripe::guard
