// Owns reading the files and making TLS of them. They are small; comparing whole contents is the simplest way to see a
// change, and misses none.
#include "agent/uplink/web_files.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl.hpp>

#include "agent/base/fd.hpp"

namespace nvstripe::uplink {
namespace {

namespace ssl = boost::asio::ssl;
using Code = boost::system::error_code;

constexpr std::size_t kMaxFile = 1024 * 1024;  // a bundle of authorities

Result<std::string> read_file(const std::string& path) {
  const std::string remedy =
      "make it and its folders readable for the user nvstripe-uplink: chgrp nvstripe-uplink, chmod 640";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file) return fail_errno("cannot open '" + path + "'", errno, remedy);
  std::string text;
  std::array<char, 8192> chunk{};
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0) return fail_errno("cannot read '" + path + "'", errno, remedy);
    if (got == 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxFile) return fail("'" + path + "' is too large", "put the right file there");
  }
}

int version_number(TlsVersion version) { return version == TlsVersion::tls13 ? TLS1_3_VERSION : TLS1_2_VERSION; }

ssl::verify_mode verify_mode(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::none:
      return ssl::verify_none;
    case ClientAuth::request:
    case ClientAuth::verify_if_given:
      return ssl::verify_peer;
    case ClientAuth::require_any:
    case ClientAuth::require_and_verify:
      break;
  }
  return ssl::verify_peer | ssl::verify_fail_if_no_peer_cert;
}

// `contents`: certificate, key, authorities of clients.
Result<std::unique_ptr<ssl::context>> tls_context(const WebTls& tls, const std::string& certificate, const std::string& key,
                                                  const std::string& authorities) {
  auto made = std::make_unique<ssl::context>(ssl::context::tls_server);
  const auto wrong = [](const std::string& what, const Code& code) {
    return fail(what + ": " + code.message(), "write PEM files, see docs/metrics.md", code);
  };
  SSL_CTX* native = made->native_handle();
  // A resumed session would not be asked for its certificate again.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(native, 0);
  if (SSL_CTX_set_min_proto_version(native, version_number(tls.min_version)) != 1 ||
      SSL_CTX_set_max_proto_version(native, version_number(tls.max_version)) != 1)
    return fail("TLS of the versions in min_version and max_version cannot be had", "leave both out");
  Code code;
  made->use_certificate_chain(boost::asio::buffer(certificate), code);
  if (code) return wrong("cannot use the certificate '" + tls.cert_file + "'", code);
  // Else OpenSSL asks at a terminal for the passphrase of an encrypted key.
  made->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, code);
  if (code) return wrong("cannot set up TLS", code);
  made->use_private_key(boost::asio::buffer(key), ssl::context::pem, code);
  if (code) return wrong("cannot use the key '" + tls.key_file + "' with '" + tls.cert_file + "'", code);
  made->set_verify_mode(verify_mode(tls.client_auth), code);
  if (code) return wrong("cannot set up TLS", code);
  if (tls.client_ca_file.empty()) return made;
  made->add_certificate_authority(boost::asio::buffer(authorities), code);
  if (code) return wrong("cannot use the authorities '" + tls.client_ca_file + "'", code);
  return made;
}

// The names as exporter-toolkit compares them.
std::string text_of(const GENERAL_NAME& name) {
  const ASN1_STRING* text = nullptr;
  if (name.type == GEN_DNS) text = name.d.dNSName;
  if (name.type == GEN_EMAIL) text = name.d.rfc822Name;
  if (name.type == GEN_URI) text = name.d.uniformResourceIdentifier;
  if (name.type == GEN_IPADD) text = name.d.iPAddress;
  if (text == nullptr) return {};
  const auto size = static_cast<std::size_t>(ASN1_STRING_length(text));
  const unsigned char* bytes = ASN1_STRING_get0_data(text);
  if (name.type != GEN_IPADD) return {reinterpret_cast<const char*>(bytes), size};
  std::array<char, INET6_ADDRSTRLEN> shown{};
  if (size != 4 && size != 16) return {};
  return ::inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes, shown.data(), shown.size()) == nullptr ? "" : shown.data();
}

bool has_name_of(X509* certificate, const std::vector<std::string>& allowed) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free);
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count; ++i) {
    const std::string text = text_of(*sk_GENERAL_NAME_value(names.get(), i));
    if (!text.empty() && std::find(allowed.begin(), allowed.end(), text) != allowed.end()) return true;
  }
  return false;
}

// The files' contents, in the order config, certificate, key, authorities; the last three as the config names them.
Result<std::vector<std::string>> read_all(const std::string& path, WebConfig& config) {
  TRY(const std::string text, read_file(path));
  TRY(config, parse_web_config(path, text));
  std::vector<std::string> contents{text};
  if (!config.tls) return contents;
  for (const std::string* name : {&config.tls->cert_file, &config.tls->key_file, &config.tls->client_ca_file}) {
    std::string content;
    if (!name->empty()) {
      TRY(content, read_file(*name));
    }
    contents.push_back(std::move(content));
  }
  return contents;
}

}  // namespace

Result<std::shared_ptr<const WebAccess>> WebFiles::current() {
  const std::lock_guard lock(mutex_);
  const auto keep = [this](Error error) -> Result<std::shared_ptr<const WebAccess>> {
    if (!access_) return tl::unexpected(std::move(error));
    tell(error.what + "; " + error.remedy + "; what was read before stays in force");
    return access_;
  };
  auto access = std::make_shared<WebAccess>();
  auto contents = read_all(path_, access->config);
  if (!contents) return keep(std::move(contents).error());
  if (access_ && *contents == contents_) {
    told_.clear();
    return access_;
  }
  if (access->config.tls) {
    auto tls = tls_context(*access->config.tls, contents->at(1), contents->at(2), contents->at(3));
    if (!tls) return keep(std::move(tls).error());
    access->tls = std::move(*tls);
  }
  if (access_) tell("telemetry.web_config or a file that it names has changed and is in force");
  told_.clear();
  access_ = std::move(access);
  contents_ = std::move(*contents);
  return access_;
}

void WebFiles::tell(const std::string& text) {
  if (text != told_) say_(text);
  told_ = text;
}

bool client_may_enter(const WebTls& tls, bool verified, ssl::verify_context& chain) {
  if (tls.client_auth != ClientAuth::verify_if_given && tls.client_auth != ClientAuth::require_and_verify) return true;
  X509_STORE_CTX* native = chain.native_handle();
  if (!verified || X509_STORE_CTX_get_error_depth(native) != 0) return verified;
  return tls.client_allowed_sans.empty() || has_name_of(X509_STORE_CTX_get_current_cert(native), tls.client_allowed_sans);
}

}  // namespace nvstripe::uplink
