// Owns NVMe over fabrics from the host's side: the option line, what a refused connect means, finding a controller by what
// identifies it, deleting it. The two calls that touch the kernel block, so only children make them (hands.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/host/hands.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"

namespace nvstripe::host {

inline constexpr const char* kFabricsNode = "/dev/nvme-fabrics";
inline constexpr std::string_view kDiscoveryNqn = "nqn.2014-08.org.nvmexpress.discovery";

// What reading the node unwritten lists; kernels before 5.17 list nothing, then all options are taken as known.
[[nodiscard]] std::vector<std::string> parse_known_options(std::string_view text);
[[nodiscard]] std::string option_line(const Connect& step, const std::vector<std::string>& known);

// Addresses are compared by value, so that IPv6 texts of one address are equal. Deleting and dead controllers count too.
[[nodiscard]] bool same_address(std::string_view a, std::string_view b);
[[nodiscard]] const NvmeController* find_controller(const std::vector<NvmeController>& all, std::string_view nqn,
                                                    std::string_view transport, std::string_view traddr,
                                                    std::string_view trsvcid);

// In people's words: not allowed, refused, unreachable, silent. `kernel_said`: lines of the kernel log of that moment.
[[nodiscard]] Error connect_error(const Connect& step, int code, std::string_view kernel_said);
// Whether half the queues may do.
[[nodiscard]] bool lacks_resources(int code, std::string_view kernel_said);

// Gives the controller's kernel name, or nothing when the kernel says that it is connected already.
[[nodiscard]] Result<std::string> fabrics_connect(const Connect& step, const std::string& node = kFabricsNode);
// Checks that the controller of that name is the one meant and not PCIe, then deletes it.
[[nodiscard]] Result<> fabrics_delete(const DeleteController& step, const std::string& class_folder = "/sys/class/nvme");

}  // namespace nvstripe::host
