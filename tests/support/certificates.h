// Certificates for tests, made by the openssl command in a folder that is gone at the end.
//
//   Certificates made;
//   made.authority("ca");            // ca.pem, ca.key
//   made.signed_by("ca", "server");  // server.pem, server.key, for 127.0.0.1 and localhost
#pragma once

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "client/tls_files.h"

namespace bloomring {

class Certificates {
 public:
  Certificates() {
    std::string name = (std::filesystem::temp_directory_path() / "certificates_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }

  void authority(const std::string& name) const {
    openssl("req -x509 " + fresh_key(name) + " -out " + file(name + ".pem") + " -days 2 -subj /CN=" + name);
  }
  // `alternative_names` as openssl writes them: "DNS:a,URI:b"; none when empty.
  void signed_by(const std::string& authority, const std::string& name,
                 const std::string& alternative_names = "IP:127.0.0.1,DNS:localhost") const {
    openssl("req " + fresh_key(name) + " -out " + file(name + ".csr") + " -subj /CN=" + name +
            (alternative_names.empty() ? "" : " -addext subjectAltName=" + alternative_names));
    openssl("x509 -req -in " + file(name + ".csr") + " -CA " + file(authority + ".pem") + " -CAkey " +
            file(authority + ".key") + " -CAcreateserial -days 2 -copy_extensions copy -out " + file(name + ".pem"));
  }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  TlsServerFiles server(const std::string& name, const std::string& client_ca = "") const {
    return {file(name + ".pem"), file(name + ".key"), client_ca.empty() ? "" : file(client_ca + ".pem")};
  }
  TlsClientFiles client(const std::string& ca, const std::string& name = "") const {
    if (name.empty()) return {file(ca + ".pem"), "", ""};
    return {file(ca + ".pem"), file(name + ".pem"), file(name + ".key")};
  }

 private:
  std::string fresh_key(const std::string& name) const {
    return "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout " + file(name + ".key");
  }
  void openssl(const std::string& arguments) const {
    const std::string command = "openssl " + arguments + " >" + file("openssl.log") + " 2>&1";
    INFO(command);
    REQUIRE(std::system(command.c_str()) == 0);
  }

  std::filesystem::path folder_;
};

}  // namespace bloomring
