// Owns reading the files. They are small and read at each change only; comparing whole contents is the simplest way to see
// one.
#include "agent/uplink/credentials.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {

constexpr const char* kFolder = "/etc/nvstripe/upstream";
constexpr std::size_t kMaxFile = 256 * 1024;  // a bundle of authorities

Result<std::optional<std::string>> read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::optional<std::string>();
  const std::string remedy = "make it readable for the user nvstripe-uplink: chown root:nvstripe-uplink, chmod 640";
  if (!file) return fail_errno("cannot open '" + path + "'", errno, remedy);
  std::string text;
  std::array<char, 8192> chunk{};
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0) return fail_errno("cannot read '" + path + "'", errno, remedy);
    if (got == 0) return std::optional(std::move(text));
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxFile) return fail("'" + path + "' is too large for a key or token", "put the right file there");
  }
}

// `given`: the file that was named, which must be there then.
Result<std::string> find_file(const std::vector<std::string>& folders, const std::string& name,
                              const std::string& given = {}) {
  if (!given.empty()) {
    TRY(auto text, read_file(given));
    if (text && !trim(*text).empty()) return std::move(*text);
    return fail("'" + given + "' is not there, or empty", "put the file there, or name the right one");
  }
  for (const std::string& folder : folders) {
    TRY(auto text, read_file(folder + "/" + name));
    if (!text) continue;
    if (trim(*text).empty()) return fail("'" + folder + "/" + name + "' is empty", "write it whole, or remove it");
    return std::move(*text);
  }
  return std::string();
}

}  // namespace

Result<Credentials> read_credentials(const std::vector<std::string>& folders, const CredentialFiles& files) {
  Credentials read;
  TRY(read.ca, find_file(folders, "upstream-ca.pem", files.ca));
  TRY(read.certificate, find_file(folders, "upstream-cert.pem", files.certificate));
  TRY(read.key, find_file(folders, "upstream-key.pem", files.key));
  TRY(const std::string token, find_file(folders, "upstream-token"));
  read.token = std::string(trim(token));
  for (const char c : read.token) {
    if (c <= ' ' || c >= '\x7f')
      return fail("the token in 'upstream-token' has blanks or other characters that no token has", "write the token alone");
  }
  if (read.certificate.empty() != read.key.empty())
    return fail("of 'upstream-cert.pem' and 'upstream-key.pem' only one is there", "put both there, or none");
  return read;
}

std::vector<std::string> credential_folders() {
  std::vector<std::string> folders;
  if (const char* given = std::getenv("CREDENTIALS_DIRECTORY")) folders.emplace_back(given);
  folders.emplace_back(kFolder);
  return folders;
}

}  // namespace nvstripe::uplink
