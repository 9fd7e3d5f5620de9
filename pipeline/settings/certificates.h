// Reads the PEM files of the gRPC port before it opens: gRPC reports errors in them only at the first connection, or
// not at all.
//
// Errors: kInvalid with the reason, worded to follow "FILE: ": "it cannot be read: No such file or directory".
// Threading: pure functions of the files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace bloomring {

struct Certificate {
  std::string name;  // The common name of its subject; may be empty.
  int64_t not_before_ms = 0;
  int64_t not_after_ms = 0;
};

// All certificates in the file, in their order; at least one.
Result<std::vector<Certificate>> read_certificates(const std::string& path);

// Ok when `key_path` has a private key without a passphrase that belongs to the first certificate of
// `certificate_path`. Also ok when the certificate cannot be read, which read_certificates reports.
Status check_key(const std::string& key_path, const std::string& certificate_path);

}  // namespace bloomring
