// Owns what OpenTelemetry's environment variables say of the push: pure, over a way to ask for a variable.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/url.hpp"
#include "agent/uplink/credentials.hpp"

namespace nvstripe::uplink {

struct OtlpSettings {
  bool disabled = false;                           // OTEL_SDK_DISABLED: nothing is pushed as OTLP, whatever the spec says
  std::optional<Url> url;                          // OTEL_EXPORTER_OTLP_[METRICS_]ENDPOINT; the spec's comes before it
  std::optional<std::chrono::milliseconds> every;  // OTEL_METRIC_EXPORT_INTERVAL
  std::chrono::milliseconds timeout{10'000};       // …_TIMEOUT
  bool gzip = true;                                // …_COMPRESSION: gzip or none
  std::vector<std::pair<std::string, std::string>> headers;     // …_HEADERS
  CredentialFiles files;                                        // …_CERTIFICATE, …_CLIENT_CERTIFICATE, …_CLIENT_KEY
  std::vector<std::pair<std::string, std::string>> attributes;  // OTEL_RESOURCE_ATTRIBUTES
  std::string service_name = "nvstripe";                        // OTEL_SERVICE_NAME
  std::vector<std::string> problems;                            // variables that say nothing usable, and are left aside
};

using Ask = std::function<const char*(const char* name)>;  // nullptr: not set

[[nodiscard]] OtlpSettings otlp_settings(const Ask& ask);
// Without the headers and client keys where `url` is not the receiver that the variables name: they may be secrets of that
// one. Headers never go in the clear, but to this machine itself.
[[nodiscard]] OtlpSettings settings_for(OtlpSettings settings, const Url& url);
// OTLP's own path where the URL has none.
[[nodiscard]] Url with_otlp_path(Url url);

}  // namespace nvstripe::uplink
