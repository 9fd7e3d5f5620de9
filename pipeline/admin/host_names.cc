#include "pipeline/admin/host_names.h"

#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace bloomring {

namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return small;
}

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

HostNames::HostNames(const std::vector<std::string>& names) : names_{"localhost"} {
  std::array<char, 256> own{};
  if (::gethostname(own.data(), own.size() - 1) == 0) names_.insert(in_small_letters(own.data()));
  for (const std::string& name : names) names_.insert(in_small_letters(name));
}

bool HostNames::allow(const char* header) const {
  if (header == nullptr) return true;
  const std::string host = in_small_letters(host_of_header(header));
  return is_address(host) || names_.contains(host);
}

std::string_view host_of_header(std::string_view header) {
  if (header.starts_with('[')) {
    const size_t end = header.find(']');
    return end == std::string_view::npos ? "" : header.substr(1, end - 1);
  }
  return header.substr(0, header.find(':'));
}

}  // namespace bloomring
