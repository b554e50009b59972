// Owns the question who a user is: his group, and whether he is in the group whose members may declare jobs.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

namespace nvstripe::host {

inline constexpr const char* kJobsGroup = "nvstripe";

struct Account {
  std::uint32_t gid = 0;     // the primary group
  bool may_declare = false;  // in kJobsGroup
};

// The seam: nothing for a user that the machine does not know.
using Accounts = std::function<std::optional<Account>(std::uint32_t uid)>;

// Asks the system's name service. It may ask the network (sssd, LDAP), so answers are remembered for a minute.
[[nodiscard]] Accounts live_accounts();

}  // namespace nvstripe::host
