// Owns which external programs are installed. Looks at names only; runs nothing.
#include "agent/host/tools.hpp"

#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {

void observe_tools(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Tools = Facet<std::vector<std::string>>;
  std::string problem;
  bool any_folder = false;
  for (const std::string_view folder : host::kToolFolders) {
    const auto names = reader.list(folder);
    if (names && !names->empty())
      any_folder = true;
    else if (!names && problem.empty())
      problem = names.error().what;
  }
  if (!any_folder) {
    seen.tools = Tools::unavailable("which programs are installed cannot be seen: " + problem);
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
