// Owns the table of statuses and the arithmetic of pauses.
#include "agent/uplink/retry.hpp"

#include <algorithm>
#include <ctime>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {
constexpr std::chrono::milliseconds kFirstPause{1'000};
constexpr unsigned kMostDoublings = 12;
}  // namespace

Verdict judge_event(int status) {
  if (status >= 200 && status < 300) return Verdict::accepted;
  if (status == 410) return Verdict::gone;
  // Malformed, too large, or of content that it does not want: the same bytes will be refused the next time.
  if (status == 400 || status == 413 || status == 422) return Verdict::refused;
  return Verdict::again;
}

Verdict judge_otlp(int status) {
  if (status >= 200 && status < 300) return Verdict::accepted;
  return status == 0 || status == 429 || (status >= 502 && status <= 504) ? Verdict::again : Verdict::refused;
}

Verdict judge_remote_write(int status) {
  if (status >= 200 && status < 300) return Verdict::accepted;
  return status == 0 || status == 429 || (status >= 500 && status < 600) ? Verdict::again : Verdict::refused;
}

std::optional<std::chrono::seconds> parse_retry_after(std::string_view text, std::int64_t now) {
  const std::string given(trim(text));
  if (const auto seconds = parse_number(given)) {
    return std::chrono::seconds(static_cast<std::int64_t>(std::min<std::uint64_t>(*seconds, 1u << 30)));
  }
  std::tm parts{};
  // The days' and months' names are those of the C locale: no program here sets another.
  const char* end = ::strptime(given.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::seconds(std::max<std::int64_t>(0, static_cast<std::int64_t>(::timegm(&parts)) - now));
}

std::chrono::milliseconds pause_before_retry(unsigned tries, double draw, std::optional<std::chrono::seconds> asked) {
  const auto longest =
      std::min<std::chrono::milliseconds>(kLongestPause, kFirstPause * (1LL << std::min(tries, kMostDoublings)));
  const auto drawn = std::chrono::milliseconds(static_cast<std::int64_t>(draw * static_cast<double>(longest.count())));
  if (!asked) return std::max(drawn, std::chrono::milliseconds(10));
  return std::min<std::chrono::milliseconds>(*asked, kLongestAsked) + drawn;
}

}  // namespace nvstripe::uplink
