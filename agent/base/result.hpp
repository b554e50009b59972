// Owns Error and Result: how every fallible call answers. The only place that names tl::expected.
// An error says what was tried on which thing and why it failed (what), and what the reader should do (remedy).
#pragma once
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <tl/expected.hpp>

namespace nvstripe {

struct Error {
  std::string what;         // one clause, lower case, values in single quotes: "cannot open '/dev/x': no such device"
  std::string remedy;       // what the reader should do; empty only where nothing but a retry helps
  std::error_code cause{};  // errno or another category's code; empty for errors of our own making
};

template <class T = void>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(std::string what, std::string remedy = {}, std::error_code cause = {}) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(remedy), cause});
}

// Adds the errno text to `what`; call it before anything else can change errno.
[[nodiscard]] inline tl::unexpected<Error> fail_errno(std::string what, int code = errno, std::string remedy = {}) {
  const std::error_code cause(code, std::system_category());
  return tl::unexpected<Error>(Error{std::move(what) + ": " + cause.message(), std::move(remedy), cause});
}

[[nodiscard]] inline bool is_errno(const Error& error, int code) {
  return error.cause.category() == std::system_category() && error.cause.value() == code;
}

}  // namespace nvstripe

#define NVS_JOIN_(a, b) a##b
#define NVS_JOIN(a, b) NVS_JOIN_(a, b)

// TRY(auto x, f()); declares x from the value of f(), or returns its error.
#define TRY(declaration, expression) NVS_TRY_(NVS_JOIN(nvs_result_, __LINE__), declaration, expression)
#define NVS_TRY_(name, declaration, expression)              \
  auto name = (expression);                                  \
  if (!name) return tl::unexpected(std::move(name).error()); \
  declaration = std::move(*name)

// CHECKED(f()); returns the error of a Result<void>.
#define CHECKED(expression)                                                                                   \
  do {                                                                                                        \
    if (auto nvs_checked = (expression); !nvs_checked) return tl::unexpected(std::move(nvs_checked).error()); \
  } while (false)
