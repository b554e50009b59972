// Owns what an answer of a receiver means, and how long to wait before the next try. Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nvstripe::uplink {

struct Posted {
  int status = 0;           // of the answer; 0: none came, or not whole
  std::string retry_after;  // the header, as it came
  std::string body;         // its beginning
  std::string error;        // why no answer came
};

enum class Verdict {
  accepted,  // it is the receiver's now
  refused,   // this event will never be taken
  again,     // later: nobody answered, or the receiver or its configuration is in trouble
  gone,      // 410: the receiver asks not to be sent anything; tried very rarely
};
// Of an event. 3xx is trouble of the configuration and never followed: what is sent may carry a token.
[[nodiscard]] Verdict judge_event(int status);

// Of a batch of metrics. OTLP's text: only 429, 502, 503, 504 and lost requests are tried again.
[[nodiscard]] Verdict judge_otlp(int status);
// Remote write's text: 5xx and 429 are tried again, no other 4xx; 400 is what an old sample gets.
[[nodiscard]] Verdict judge_remote_write(int status);

inline constexpr std::chrono::milliseconds kLongestPause = std::chrono::minutes(5);
inline constexpr std::chrono::milliseconds kLongestAsked = std::chrono::hours(1);  // by Retry-After; more is a mistake

// "120" or "Fri, 31 Dec 1999 23:59:59 GMT"; none where it is neither. `now`: seconds since 1970.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::int64_t now);
// Full jitter: anywhere from 0 to 1 s doubled by each try, at most five minutes, so that a fleet does not come back as one;
// never sooner than asked, and then spread beyond it. `draw`: 0 to 1.
[[nodiscard]] std::chrono::milliseconds pause_before_retry(unsigned tries, double draw,
                                                           std::optional<std::chrono::seconds> asked);

}  // namespace nvstripe::uplink
