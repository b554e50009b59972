// Owns the table of configurators; a new one is one file and one row here.
#include <array>

#include "agent/engine/tables.hpp"
#include "configurators/exports.hpp"

namespace nvstripe {
namespace {

constexpr FacetSet kRecords = static_cast<FacetSet>(FacetName::records);

// Rows of exports name only the records here and say themselves what else they cannot see: a machine without exports, or
// without LVM, has nothing to be told about it.
constexpr std::array kConfigurators{
    // Exports, on the target.
    Configurator{"export_udev", "keeps this host's udev off exported drives", kRecords, configure::export_udev},
    Configurator{"exports", "makes one nvmet subsystem for each allowed host and serves its drives", kRecords,
                 configure::exports},
    Configurator{"export_ports", "offers subsystems on the addresses of the named network", kRecords,
                 configure::export_ports},
    Configurator{"export_withdrawal", "takes away what the spec no longer exports", kRecords, configure::export_withdrawal},
};

}  // namespace

std::span<const Configurator> all_configurators() { return kConfigurators; }

}  // namespace nvstripe
