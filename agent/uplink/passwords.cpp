// Owns the only use of libcrypt. What was right is remembered as a hash that is salted anew in each process, never as text.
#include "agent/uplink/passwords.hpp"

#include <crypt.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "agent/base/digest.hpp"

namespace nvstripe::uplink {
namespace {

// One checker does some 15 checks a second at cost 10; what waits longer than a scrape may as well come again.
constexpr int kMaxUnderWay = 8;
// So that one machine that guesses does not take all places.
constexpr int kMaxOfAddress = 2;
constexpr std::size_t kMaxRemembered = 256;
// bcrypt looks at no more than 72 bytes: a longer text would be as right as its beginning.
constexpr std::size_t kMaxPassword = 72;
// A hash that no password is known for; its cost is replaced.
constexpr std::string_view kNobody = "$2b$10$abcdefghijklmnopqrstuu5Uh0CuqmXjXmdXJ4AJZhEJGgGMX2p9e";

// Takes as long for texts that differ at their beginning as at their end.
bool same_text(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs = static_cast<unsigned char>(differs | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return differs == 0;
}

int digit_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::string out;
  unsigned int bits = 0;
  int count = 0;
  for (const char c : text) {
    const int digit = digit_of(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned int>(digit)) & 0xffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

// Of the costliest user's cost. Users of different costs can be told apart by time all the same.
std::string hash_of_nobody(const Users& users) {
  std::string hash(kNobody);
  std::string cost = "04";
  for (const auto& [name, of_user] : users) cost = std::max(cost, of_user.substr(4, 2));
  hash.replace(4, 2, cost);
  return hash;
}

}  // namespace

std::optional<Login> parse_login(std::string_view authorization) {
  constexpr std::string_view kBasic = "basic ";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  if (authorization.size() < kBasic.size()) return std::nullopt;
  for (std::size_t i = 0; i < kBasic.size(); ++i) {
    if (lower(authorization[i]) != kBasic[i]) return std::nullopt;
  }
  const auto text = from_base64(authorization.substr(kBasic.size()));
  if (!text) return std::nullopt;
  const auto colon = text->find(':');
  if (colon == std::string::npos) return std::nullopt;
  return Login{text->substr(0, colon), text->substr(colon + 1)};
}

bool bcrypt_matches(const std::string& password, const std::string& hash) {
  const auto room = std::make_unique<crypt_data>();  // 32 KiB
  const char* made = ::crypt_r(password.c_str(), hash.c_str(), room.get());
  const bool same = made != nullptr && same_text(made, hash);
  explicit_bzero(room.get(), sizeof(crypt_data));
  return same;
}

Passwords::Passwords(VerifyPassword verify) : verify_(std::move(verify)), salt_(32, '\0') {
  // Fails only on kernels before 3.17; without a salt of its own a core dump would tell passwords to whoever tries many.
  if (::getrandom(salt_.data(), salt_.size(), 0) != static_cast<ssize_t>(salt_.size())) std::abort();
}

std::string Passwords::mark_of(const Login& login, const std::string& hash) const {
  std::string text = salt_;
  for (const std::string* part : {&login.user, &login.password, &hash}) text += std::to_string(part->size()) + ":" + *part;
  return sha256_hex(text);
}

bool Passwords::known(const Users& users, const Login& login) const {
  const auto user = users.find(login.user);
  const std::string mark = mark_of(login, user == users.end() ? std::string(kNobody) : user->second);
  const std::lock_guard lock(mutex_);
  bool found = false;
  for (const std::string& right : right_) found = same_text(right, mark) || found;
  return found && user != users.end();
}

bool Passwords::begin(const std::string& address) {
  const std::lock_guard lock(mutex_);
  if (all_under_way_ >= kMaxUnderWay) return false;
  int& of_address = under_way_[address];
  if (of_address >= kMaxOfAddress) return false;
  ++of_address;
  ++all_under_way_;
  return true;
}

bool Passwords::check(const Users& users, const Login& login, const std::string& address) {
  const auto user = users.find(login.user);
  const std::string hash = user == users.end() ? hash_of_nobody(users) : user->second;
  // libcrypt ends a text at a zero byte, which no password has.
  const bool possible = login.password.size() <= kMaxPassword && login.password.find('\0') == std::string::npos;
  const bool matches = !known(users, login) ? verify_(login.password, hash) : true;
  const bool right = matches && possible && user != users.end();
  const std::string mark = mark_of(login, hash);
  const std::lock_guard lock(mutex_);
  --all_under_way_;
  if (const auto at = under_way_.find(address); at != under_way_.end() && --at->second <= 0) under_way_.erase(at);
  if (!right) return false;
  if (right_.size() >= kMaxRemembered) right_.clear();
  if (std::find(right_.begin(), right_.end(), mark) == right_.end()) right_.push_back(mark);
  return true;
}

}  // namespace nvstripe::uplink
