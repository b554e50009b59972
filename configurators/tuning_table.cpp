// Owns the documentation of what is tuned, to which value and why. The values themselves are reckoned by the configurators;
// a test holds the two together.
#include <array>

#include "configurators/tuning.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::array kTable{
    TuningRow{
        "queue/scheduler", "members of volumes (their NVMe paths where there are several layers), exported drives",
        "none, where it is offered",
        "an NVMe drive orders by itself; with one hardware queue the kernel picks mq-deadline (block/elevator.c, read)"},
    TuningRow{
        "queue/rq_affinity", "members of volumes", "1; 2 where the workload is random and I/O queues are fewer than CPUs",
        "1 completes anywhere in the submitter's cache domain and 2 on the submitting CPU: worth an interrupt only where "
        "few queues serve many submitters (block/blk-mq.c, read)"},
    TuningRow{"queue/wbt_lat_usec", "remote members", "0",
              "writeback throttling aims at 2 ms, which a loaded fabric reaches without being congested, and then throttles "
              "buffered writes for nothing (block/blk-wbt.c, read)"},
    TuningRow{"queue/read_ahead_kb", "md array or LV of a volume",
              "streaming and checkpoint: 2 stripe widths within 1 MiB and 16 MiB; random: 128",
              "the kernel raises it to 2 x optimal I/O size and never lowers it: 128 members x 128 KiB are 32 MiB for each "
              "open file (block/blk-settings.c, read), and random reads pay for every byte of it"},
    TuningRow{"vm.dirty_background_bytes", "the machine, while volumes are wanted",
              "1 s of the volumes' write rate, at most 10 % of memory",
              "writeback starts early enough to stay level; the default of 10 % is 77 GB on a 768 GB machine"},
    TuningRow{"vm.dirty_bytes", "the machine, while volumes are wanted",
              "4 s of the volumes' write rate, at most 20 % of memory",
              "the longest stall of a writer is what may be dirty over the rate: 20 % of 768 GB is 19 s at 8 GB/s"},
    TuningRow{"nvme_core.io_timeout", "the machine, when no network disk is on NVMe", "30",
              "cloud images raise it to the maximum for network disks; on members it hides a dead drive for ever (A-78)"},
};

}  // namespace

std::span<const TuningRow> tuning_table() { return kTable; }

}  // namespace nvstripe::configure
