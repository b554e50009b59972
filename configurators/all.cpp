// Owns the table of configurators; a new one is one file and one row here.
#include <array>

#include "agent/engine/tables.hpp"
#include "configurators/exports.hpp"
#include "configurators/filesystem.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/lvm_volume.hpp"
#include "configurators/md_array.hpp"
#include "configurators/mount.hpp"
#include "configurators/nvme_connect.hpp"
#include "configurators/tuning.hpp"
#include "configurators/volume.hpp"

namespace nvstripe {
namespace {

constexpr FacetSet kRecords = static_cast<FacetSet>(FacetName::records);
constexpr FacetSet kIdentity = FacetName::identity | FacetName::records;

// Most rows name only the records here and say themselves what else they cannot see, for what this spec asks for: a machine
// without volumes, exports, LVM or RDMA has nothing to be told about it.
constexpr std::array kConfigurators{
    Configurator{"host_identity", "records which machine this is", kIdentity, configure::plan_host_identity},
    // Exports, on the target.
    Configurator{"export_udev", "keeps this host's udev off exported drives", kRecords, configure::export_udev},
    Configurator{"export_slices", "cuts shared drives into LVM slices and activates them", kRecords,
                 configure::export_slices},
    Configurator{"exports", "makes one nvmet subsystem for each allowed host and serves its drives", kRecords,
                 configure::exports},
    Configurator{"export_ports", "offers subsystems on the addresses of the named network", kRecords,
                 configure::export_ports},
    Configurator{"export_withdrawal", "takes away what the spec no longer exports", kRecords, configure::export_withdrawal},
    // Volumes, on the consumer.
    Configurator{"nvme_connect", "connects the subsystems of targets", kRecords, configure::plan_nvme_connect},
    Configurator{"volume", "says what volumes wait for and what is refused", kRecords, configure::plan_volume},
    Configurator{"md_array", "makes, assembles and recovers arrays of volumes", kRecords, configure::plan_md_array},
    Configurator{"lvm_volume", "makes and activates volume groups of volumes", kRecords, configure::plan_lvm_volume},
    Configurator{"filesystem", "makes the file systems of volumes", kRecords, configure::plan_filesystem},
    Configurator{"mount", "mounts volumes through units of systemd", kRecords, configure::plan_mount},
    // Tuning; what cannot be seen is not tuned, and nothing is said about it.
    Configurator{"block_queue", "sets queues of members, arrays and exported drives", kRecords, configure::block_queue},
    Configurator{"sysctl", "sets the VM's dirty limits while volumes are wanted", kRecords, configure::sysctl},
    Configurator{"nvme_parameters", "sets NVMe module parameters that hide dead drives", kRecords,
                 configure::nvme_parameters},
};

}  // namespace

std::span<const Configurator> all_configurators() { return kConfigurators; }

}  // namespace nvstripe
