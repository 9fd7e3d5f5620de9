// When the certificates in a file expire. Threading: a pure function of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bloomring {

// Of the certificate in this PEM file that expires first, in seconds since 1970-01-01 UTC; nothing when the file cannot
// be read or holds none.
std::optional<int64_t> certificate_expiry_s(const std::string& path);

}  // namespace bloomring
