// Owns one HTTP exchange with the agent over its Unix socket: blocking, bounded by a deadline, nothing kept open.
#pragma once
#include <chrono>
#include <string>

#include "agent/base/result.hpp"

namespace nvstripe::api {

inline constexpr const char* kSocketPath = "/run/nvstripe/api.sock";

struct Answer {
  int status = 0;
  std::string body;
};

// An error means that the agent could not be reached or did not answer in time; refusals are answers with their status.
[[nodiscard]] Result<Answer> exchange(const std::string& socket_path, const std::string& method, const std::string& target,
                                      const std::string& body = {},
                                      std::chrono::milliseconds deadline = std::chrono::seconds(15));

}  // namespace nvstripe::api
