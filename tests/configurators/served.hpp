// Owns storage machines for tests of exports, and a small stand-in for configfs that carries out their steps.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::served {

[[nodiscard]] std::string consumer();              // host NQN that pool_spec() allows
[[nodiscard]] std::string consumer_nqn();          // subsystem NQN for it
[[nodiscard]] Spec pool_spec();                    // export 'pool' on 10.9.0.0/24 for one host
[[nodiscard]] Inventory storage(unsigned drives);  // eth1 has 10.9.0.11 and rxe0
// nvmet's configuration is gone, the drives and the records are not.
[[nodiscard]] Inventory reboot(const Inventory& seen);
// Steps on configfs and files, with `before` and `after`; ends the test program at a step it does not know.
void carry_out(Inventory& seen, const Action& action);
// Until nothing that is reversible or writes_blank is planned; ends the test program when that takes more than 50 actions.
void settle(const Spec& spec, Inventory& seen);
[[nodiscard]] std::vector<Action> planned(const Spec& spec, const Inventory& seen);  // by all export configurators

// Where in the steps something is made at this path; ends the test program when nowhere.
[[nodiscard]] std::size_t position(const Action& action, std::string_view path);
[[nodiscard]] std::vector<std::string> written(const Action& action, std::string_view attribute);

}  // namespace nvstripe::served
