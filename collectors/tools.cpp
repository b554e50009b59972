// Owns which external programs are installed. Looks at names only; runs nothing.
#include "agent/host/tools.hpp"

#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {

void observe_tools(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Tools = Facet<std::vector<std::string>>;
  bool any_folder = false;
  for (const std::string_view folder : host::kToolFolders) {
    const auto names = reader.list(folder);
    any_folder = any_folder || (names && !names->empty());
    if (names || is_errno(names.error(), ENOENT)) continue;
    seen.tools = Tools::unavailable("which programs are installed cannot be seen: " + names.error().what);
    return;
  }
  if (!any_folder && reader.captured() && reader.list("/sys/block")) {
    // A capture of the machine's state without its programs: a plan on paper takes them for installed, and says so.
    std::vector<std::string> all;
    for (const host::Tool& tool : host::all_tools()) all.emplace_back(tool.name);
    seen.tools = Tools::known(std::move(all));
    seen.notes.push_back("no folder of programs was captured: all of them are presumed to be installed");
    return;
  }
  if (!any_folder) {
    seen.tools = Tools::unavailable("which programs are installed cannot be seen: none of their folders is there");
    return;
  }
  std::vector<std::string> found;
  for (const host::Tool& tool : host::all_tools()) {
    for (const std::string_view folder : host::kToolFolders) {
      if (reader.entry(std::string(folder) + "/" + std::string(tool.name)) == host::Entry::absent) continue;
      found.emplace_back(tool.name);
      break;
    }
  }
  seen.tools = Tools::known(std::move(found));
}

}  // namespace nvstripe::collectors
