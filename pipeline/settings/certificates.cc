#include "pipeline/settings/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/destroy.h"

namespace bloomring {

namespace {

using BioHandle = std::unique_ptr<BIO, Destroy<BIO_free>>;
using CertificateHandle = std::unique_ptr<X509, Destroy<X509_free>>;
using KeyHandle = std::unique_ptr<EVP_PKEY, Destroy<EVP_PKEY_free>>;

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return invalid(std::string("it cannot be read: ") + std::strerror(errno));
  return text.str();
}

BioHandle reader(const std::string& text) {
  return BioHandle(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int no_passphrase(char*, int, int, void*) { return 0; }

int64_t to_ms(const ASN1_TIME* time) {
  std::tm utc{};
  return ASN1_TIME_to_tm(time, &utc) == 1 ? int64_t{timegm(&utc)} * 1000 : 0;
}

Certificate describe(const X509& certificate) {
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(&certificate), NID_commonName, name, sizeof name);
  return {name, to_ms(X509_get0_notBefore(&certificate)), to_ms(X509_get0_notAfter(&certificate))};
}

// True when the last read failed at the end of the file; false when the bytes are not a certificate.
bool was_the_end() {
  const unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

}  // namespace

Result<std::vector<Certificate>> read_certificates(const std::string& path) {
  BLOOMRING_TRY_ASSIGN(const std::string text, read_file(path));
  const BioHandle from = reader(text);
  std::vector<Certificate> found;
  ERR_clear_error();
  while (const CertificateHandle one{PEM_read_bio_X509(from.get(), nullptr, no_passphrase, nullptr)}) {
    found.push_back(describe(*one));
  }
  const bool ended = was_the_end();
  ERR_clear_error();
  if (!ended) return invalid("certificate " + std::to_string(found.size() + 1) + " in it is damaged");
  if (found.empty()) return invalid("it holds no certificate");
  return found;
}

Status check_key(const std::string& key_path, const std::string& certificate_path) {
  BLOOMRING_TRY_ASSIGN(const std::string key_text, read_file(key_path));
  const KeyHandle key(PEM_read_bio_PrivateKey(reader(key_text).get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  if (!key) return invalid("it holds no private key, or one that needs a passphrase");
  const auto certificate_text = read_file(certificate_path);
  if (!certificate_text.ok()) return {};
  const CertificateHandle certificate(
      PEM_read_bio_X509(reader(*certificate_text).get(), nullptr, no_passphrase, nullptr));
  const bool pair = !certificate || X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return pair ? Status() : invalid("it is not the key of the certificate in " + certificate_path);
}

}  // namespace bloomring
