// Owns what all readers share and the choice between a captured folder and a .tree file.
#include "agent/host/reader.hpp"

#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "agent/base/text.hpp"
#include "agent/host/reader_root.hpp"

namespace nvstripe::host {
namespace {

constexpr std::uintmax_t kMaxTreeBytes = 256u << 20u;  // a host with thousands of namespaces stays well below it

}  // namespace

std::string Reader::attribute(std::string_view path) const {
  const Result<std::string> text = file(path);
  return text ? std::string(trim(*text)) : std::string();
}

Result<std::unique_ptr<Reader>> captured_reader(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return fail_errno("cannot open the captured machine '" + path + "'", errno,
                      "give a folder laid out like '/' or a .tree file made by 'nvstripe bundle'");
  }
  if (S_ISDIR(status.st_mode)) return root_reader(path, {}, true);
  if (static_cast<std::uintmax_t>(status.st_size) > kMaxTreeBytes) {
    return fail("the captured machine '" + path + "' is larger than 256 MiB", "capture fewer paths");
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail("cannot read the captured machine '" + path + "'", "check its permissions");
  auto reader = tree_reader(text);
  if (!reader) return fail("'" + path + "': " + reader.error().what, reader.error().remedy, reader.error().cause);
  return reader;
}

}  // namespace nvstripe::host
