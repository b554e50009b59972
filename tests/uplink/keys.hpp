// Owns keys and certificates for tests, made by the openssl program in a folder that goes with the test.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/catch.hpp"

namespace nvstripe::uplink {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nvstripe-keys-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void put(const std::string& name, const std::string& text) const { std::ofstream(path / name) << text; }
  std::string get(const std::string& name) const {
    std::ifstream file(path / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

// Authorities ca and other, and certificates by them: NAME.crt, NAME.key, and NAME.pem with both.
inline void make_keys(const Folder& keys) {
  const std::string script =
      "set -e; cd " + keys.path.string() +
      "; exec >/dev/null 2>&1\n"
      "for ca in ca other; do openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "
      "/CN=$ca "
      "-keyout $ca.key -out $ca.crt; done\n"
      "make() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=$1 -keyout $1.key -out "
      "$1.csr\n"
      "printf \"subjectAltName=$2\" >$1.ext\n"
      "openssl x509 -req -in $1.csr -CA $3.crt -CAkey $3.key -CAcreateserial -days ${4:-2} -extfile $1.ext -out $1.crt; cat "
      "$1.crt $1.key >$1.pem; }\n"
      "make server IP:127.0.0.1 ca; make elsewhere DNS:elsewhere.example ca; make stranger IP:127.0.0.1 other; make client "
      "DNS:vm1 ca; make client2 DNS:vm2 ca\n";
  const Folder scripts;
  scripts.put("make", script);
  REQUIRE(std::system(("bash " + (scripts.path / "make").string()).c_str()) == 0);
}

}  // namespace nvstripe::uplink
