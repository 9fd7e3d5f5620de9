#include "pipeline/metrics/certificate_expiry.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>
#include <memory>

namespace bloomring {

namespace {

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* handle) const {
    destroy(handle);
  }
};
using Bio = std::unique_ptr<BIO, Destroy<BIO_vfree>>;
using Certificate = std::unique_ptr<X509, Destroy<X509_free>>;

}  // namespace

std::optional<int64_t> certificate_expiry_s(const std::string& path) {
  const Bio file(BIO_new_file(path.c_str(), "r"));
  std::optional<int64_t> first_s;
  while (file != nullptr) {
    const Certificate one(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
    std::tm end{};
    if (one == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(one.get()), &end) != 1) break;
    const int64_t end_s = timegm(&end);
    first_s = std::min(first_s.value_or(end_s), end_s);
  }
  ERR_clear_error();  // The end of the file is one, and other users of the library look for theirs.
  return first_s;
}

}  // namespace bloomring
