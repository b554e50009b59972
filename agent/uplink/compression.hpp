// Owns the two compressions of what is sent upstream.
#pragma once
#include <string>
#include <string_view>

namespace nvstripe::uplink {

// One gzip member, without a time in it: the same text gives the same bytes.
[[nodiscard]] std::string gzip(std::string_view text);
// Snappy's block format, not its frames: what remote write asks for.
[[nodiscard]] std::string snappy_block(std::string_view text);

}  // namespace nvstripe::uplink
