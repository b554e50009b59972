// Owns reading the variables. One for metrics alone comes before the one for all signals; an empty one counts as not set.
#include "agent/uplink/otlp_settings.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {

constexpr std::uint64_t kShortestMs = 5'000, kLongestMs = 3'600'000;
constexpr std::uint64_t kLongestTimeoutMs = 300'000;

class Variables {
 public:
  Variables(const Ask& ask, OtlpSettings& into) : ask_(ask), into_(into) {}

  [[nodiscard]] std::string plain(const std::string& name) const {
    const char* found = ask_(name.c_str());
    return found == nullptr ? std::string() : std::string(trim(found));
  }
  [[nodiscard]] std::string exporter(const std::string& name) {
    const std::string own = plain("OTEL_EXPORTER_OTLP_METRICS_" + name);
    return own.empty() ? plain("OTEL_EXPORTER_OTLP_" + name) : own;
  }
  void problem(const std::string& name, const std::string& why) {
    into_.problems.push_back(name + " is left aside: " + why);
  }

  std::optional<std::chrono::milliseconds> milliseconds(const std::string& name, const std::string& text,
                                                        std::uint64_t least, std::uint64_t most) {
    if (text.empty()) return std::nullopt;
    const auto number = parse_number(text);
    if (number && *number >= least && *number <= most) return std::chrono::milliseconds(static_cast<std::int64_t>(*number));
    problem(name, "it is no number of milliseconds from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }

 private:
  const Ask& ask_;
  OtlpSettings& into_;
};

// "a=b,c=d%20e", as W3C baggage has it.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto code = i + 2 < text.size() ? parse_number(text.substr(i + 1, 2), 16) : std::nullopt;
    if (!code) return std::nullopt;
    out += static_cast<char>(*code);
    i += 2;
  }
  return out;
}

bool visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
}

void take_pairs(Variables& variables, const std::string& name, const std::string& text,
                std::vector<std::pair<std::string, std::string>>& into) {
  if (text.empty()) return;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const std::size_t equal = part.find('=');
    const auto value = equal == std::string_view::npos ? std::nullopt : percent_decoded(trim(part.substr(equal + 1)));
    const std::string key(trim(part.substr(0, equal)));
    if (!value || key.empty() || !visible(*value) || !visible(key) || key.find_first_of(" :\"") != std::string::npos)
      return variables.problem(name, "it is not of the form key=value,key=value");
    pairs.emplace_back(key, *value);
  }
  into = std::move(pairs);
}

void take_endpoint(Variables& variables, OtlpSettings& into) {
  const std::string own = variables.plain("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
  const std::string general = variables.plain("OTEL_EXPORTER_OTLP_ENDPOINT");
  const std::string name = own.empty() ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT";
  const std::string& text = own.empty() ? general : own;
  if (text.empty()) return;
  auto url = parse_url(text);
  if (!url) return variables.problem(name, url.error().what);
  // The general one is a base for all signals; the other is used as it is.
  if (own.empty()) url->target += url->target.ends_with('/') ? "v1/metrics" : "/v1/metrics";
  into.url = std::move(*url);
}

}  // namespace

Url with_otlp_path(Url url) {
  if (url.target == "/") url.target = "/v1/metrics";
  return url;
}

OtlpSettings settings_for(OtlpSettings settings, const Url& url) {
  const std::optional<Url>& named = settings.url;
  const bool other = named && (named->tls != url.tls || named->host != url.host || named->port != url.port);
  const bool here = url.host == "localhost" || url.host == "127.0.0.1" || url.host == "::1";
  if (other || (!url.tls && !here)) settings.headers.clear();
  if (other) settings.files.certificate = settings.files.key = {};
  return settings;
}

OtlpSettings otlp_settings(const Ask& ask) {
  OtlpSettings out;
  Variables variables(ask, out);
  out.disabled = variables.plain("OTEL_SDK_DISABLED") == "true";
  take_endpoint(variables, out);
  const std::string protocol = variables.exporter("PROTOCOL");
  if (!protocol.empty() && protocol != "http/protobuf") {
    variables.problem("OTEL_EXPORTER_OTLP_PROTOCOL", "only http/protobuf is spoken; nothing is sent to its endpoint");
    out.url.reset();
  }
  const std::string compression = variables.exporter("COMPRESSION");
  if (!compression.empty() && compression != "gzip" && compression != "none")
    variables.problem("OTEL_EXPORTER_OTLP_COMPRESSION", "it is neither gzip nor none");
  out.gzip = compression != "none";
  out.every = variables.milliseconds("OTEL_METRIC_EXPORT_INTERVAL", variables.plain("OTEL_METRIC_EXPORT_INTERVAL"),
                                     kShortestMs, kLongestMs);
  out.timeout = variables.milliseconds("OTEL_EXPORTER_OTLP_TIMEOUT", variables.exporter("TIMEOUT"), 1, kLongestTimeoutMs)
                    .value_or(out.timeout);
  take_pairs(variables, "OTEL_EXPORTER_OTLP_HEADERS", variables.exporter("HEADERS"), out.headers);
  take_pairs(variables, "OTEL_RESOURCE_ATTRIBUTES", variables.plain("OTEL_RESOURCE_ATTRIBUTES"), out.attributes);
  out.files = {variables.exporter("CERTIFICATE"), variables.exporter("CLIENT_CERTIFICATE"),
               variables.exporter("CLIENT_KEY")};
  const std::string name = variables.plain("OTEL_SERVICE_NAME");
  if (!name.empty()) out.service_name = name;
  return out;
}

}  // namespace nvstripe::uplink
