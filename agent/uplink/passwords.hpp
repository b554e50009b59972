// Owns basic auth: what a request's Authorization says, bcrypt, and the rule that guessing costs the guesser more than it
// costs those who know their password.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::uplink {

struct Login {
  std::string user, password;
};
// Of "Basic dXNlcjpwYXNz"; none where it is of another kind or not whole.
[[nodiscard]] std::optional<Login> parse_login(std::string_view authorization);

// Whether a password is that of a hash; takes as long as the hash's cost says.
using VerifyPassword = std::function<bool(const std::string& password, const std::string& hash)>;
[[nodiscard]] bool bcrypt_matches(const std::string& password, const std::string& hash);

// Hashes by name.
using Users = std::map<std::string, std::string>;

// What is known of passwords, and how many are being looked at. Safe to use from several threads.
class Passwords {
 public:
  explicit Passwords(VerifyPassword verify = bcrypt_matches);

  // Seen to be right before; costs no bcrypt.
  [[nodiscard]] bool known(const Users& users, const Login& login) const;
  // Asks for a check of a client at this address. false: too many are under way, of this one or of all. Each true is
  // followed by one check().
  [[nodiscard]] bool begin(const std::string& address);
  // Slow. An unknown user costs as much as a wrong password.
  [[nodiscard]] bool check(const Users& users, const Login& login, const std::string& address);

 private:
  [[nodiscard]] std::string mark_of(const Login& login, const std::string& hash) const;

  VerifyPassword verify_;
  std::string salt_;
  mutable std::mutex mutex_;
  std::vector<std::string> right_;        // marks of what was right
  std::map<std::string, int> under_way_;  // by address
  int all_under_way_ = 0;
};

}  // namespace nvstripe::uplink
