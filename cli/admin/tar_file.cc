#include "cli/admin/tar_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "base/result.h"

namespace bloomring::cli {

namespace {

constexpr size_t kBlock = 512;

// Offsets and sizes of the fields of a header: POSIX.1, pax, "ustar Interchange Format".
struct Field {
  size_t offset;
  size_t size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12}, kTime{136, 12},
    kSum{148, 8}, kType{156, 1}, kMagic{257, 8};

void put(std::string& header, const Field& field, const std::string& text) {
  std::memcpy(header.data() + field.offset, text.data(), std::min(text.size(), field.size));
}

// Octal digits, with zeros in front, and one byte 0 at the end.
std::string octal(uint64_t number, size_t size) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", static_cast<int>(size - 1), static_cast<unsigned long long>(number));
  return text;
}

std::string header_of(const TarPart& part, int64_t time_ms) {
  BLOOMRING_CHECK(part.name.size() <= kName.size, "too long for a tar file: " + part.name);
  std::string header(kBlock, '\0');
  put(header, kName, part.name);
  put(header, kMode, octal(0600, kMode.size));
  put(header, kUser, octal(0, kUser.size));
  put(header, kGroup, octal(0, kGroup.size));
  put(header, kSize, octal(part.text.size(), kSize.size));
  put(header, kTime, octal(static_cast<uint64_t>(time_ms / 1000), kTime.size));
  put(header, kType, "0");
  put(header, kMagic, std::string("ustar\0" "00", 8));
  put(header, kSum, std::string(kSum.size, ' '));  // As which it counts in itself.
  const uint64_t sum = std::accumulate(header.begin(), header.end(), uint64_t{0}, [](uint64_t so_far, char c) {
    return so_far + static_cast<unsigned char>(c);
  });
  put(header, kSum, octal(sum, 7) + std::string("\0 ", 2));
  return header;
}

}  // namespace

std::string tar_of(const std::vector<TarPart>& parts, int64_t time_ms) {
  std::string tar;
  for (const TarPart& part : parts) {
    tar += header_of(part, time_ms) + part.text;
    tar.append((kBlock - part.text.size() % kBlock) % kBlock, '\0');
  }
  return tar.append(2 * kBlock, '\0');
}

}  // namespace bloomring::cli
