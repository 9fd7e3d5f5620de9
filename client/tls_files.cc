#include "client/tls_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace bloomring {

namespace {

// `what` is the header line that the file must contain.
Status check_pem(const std::string& path, std::string_view what) {
  if (path.empty()) return {};
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return invalid(path + " cannot be read: " + std::strerror(errno));
  const std::string bytes = text.str();
  const bool found = bytes.find("-----BEGIN") != std::string::npos && bytes.find(what) != std::string::npos;
  return found ? Status() : invalid(path + " is no PEM file with a " + std::string(what));
}

Status check_pair(const std::string& certificate, const std::string& key) {
  if (certificate.empty() != key.empty()) return invalid("a certificate and its key are needed together, or neither");
  BLOOMRING_TRY(check_pem(certificate, "CERTIFICATE"));
  return check_pem(key, "PRIVATE KEY");
}

}  // namespace

Status check(const TlsServerFiles& files) {
  if (!files.enabled() && !files.client_ca.empty())
    return invalid("a CA for clients also needs the server's certificate and key");
  BLOOMRING_TRY(check_pair(files.certificate, files.key));
  return check_pem(files.client_ca, "CERTIFICATE");
}

Status check(const TlsClientFiles& files) {
  if (!files.enabled() && !files.certificate.empty())
    return invalid("a client's certificate also needs the server's CA");
  BLOOMRING_TRY(check_pair(files.certificate, files.key));
  return check_pem(files.ca, "CERTIFICATE");
}

}  // namespace bloomring
