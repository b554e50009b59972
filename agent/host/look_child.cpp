// Owns the child's half of looks.
#include "agent/host/child.hpp"
#include "agent/host/child_verbs.hpp"
#include "agent/host/looker.hpp"

namespace nvstripe::host {

int look_verb(const std::vector<std::string>& arguments) {
  return answer_each(arguments, [](const std::string& argument) {
    const bool held = argument.starts_with(kHeld);
    const std::string device = argument.substr(held ? kHeld.size() : 0);
    const auto equals = device.find('=');
    const std::string number = device.substr(0, equals);
    const std::string path = equals == std::string::npos ? std::string() : device.substr(equals + 1);
    return to_line(number, look_at(path, number, held ? Depth::held : Depth::both));
  });
}

}  // namespace nvstripe::host
