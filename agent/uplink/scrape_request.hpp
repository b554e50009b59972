// Owns what a scraper's headers ask for.
#pragma once
#include <chrono>
#include <string_view>

namespace nvstripe::uplink {

// Of "X-Prometheus-Scrape-Timeout-Seconds: 10": how long the core may take, so that the answer is back in time.
[[nodiscard]] std::chrono::milliseconds deadline_of(std::string_view scrape_timeout);
// Whether "Accept-Encoding: gzip;q=1.0, *;q=0.5" takes gzip by name.
[[nodiscard]] bool accepts_gzip(std::string_view accept_encoding);

}  // namespace nvstripe::uplink
