// Owns every change to files: attributes of sysfs and configfs, files put atomically, folders, mount points, links, owners.
// It decides nothing, and each result is checked. Its calls may sleep in the kernel (an attribute of a dead drive), so the
// machine calls them through a child that can be abandoned (hands.hpp).
#pragma once
#include <string>

#include "agent/base/result.hpp"

namespace nvstripe::host {

// One write() of the whole value with the kernel's answer. Never creates the file. When refused, the error says what the
// attribute reads now.
[[nodiscard]] Result<> write_attribute(const std::string& path, const std::string& value);
// Temporary file in the same folder, fsync, rename, fsync of the folder. Missing parent folders are made (0755).
[[nodiscard]] Result<> put_file(const std::string& path, const std::string& text, unsigned mode);
[[nodiscard]] Result<> make_dir(const std::string& path);  // existing is fine; parents are made, outside configfs only
// An empty folder of mode 000 and immutable where the file system can; refuses a folder that holds something, a link and
// a path that something is mounted on.
[[nodiscard]] Result<> make_mount_point(const std::string& path);
[[nodiscard]] Result<> make_link(const std::string& target, const std::string& path);  // same target is fine
[[nodiscard]] Result<> remove_path(const std::string& path);  // absent is fine; an immutable flag of ours is taken off first
// Names or numbers; octal mode; empty text leaves that part.
[[nodiscard]] Result<> set_owner(const std::string& path, const std::string& owner, const std::string& group,
                                 const std::string& mode);

}  // namespace nvstripe::host
