// Owns reading those headers. What is not understood is as if it were not there.
#include "agent/uplink/scrape_request.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {
// Prometheus waits 10 s where it does not say otherwise; a part of it is kept for the way back.
constexpr std::chrono::milliseconds kDefaultDeadline{8'000}, kShortestDeadline{500}, kLongestDeadline{20'000};
}  // namespace

std::chrono::milliseconds deadline_of(std::string_view scrape_timeout) {
  const auto seconds = parse_number(scrape_timeout.substr(0, scrape_timeout.find('.')));
  if (!seconds || *seconds > 3600) return kDefaultDeadline;
  const std::chrono::milliseconds given(*seconds * 800);
  return std::clamp(given, kShortestDeadline, kLongestDeadline);
}

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view offer : split(accept_encoding, ',')) {
    const auto parts = split(offer, ';');
    if (trim(parts.front()) != "gzip") continue;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string_view weight = trim(parts[i]);
      // "q=0" and "q=0.000" mean: not this one.
      if (weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos) return false;
    }
    return true;
  }
  return false;
}

}  // namespace nvstripe::uplink
