#include "base/config/listen_address.h"

#include <arpa/inet.h>

#include <charconv>

namespace bloomring {

std::string ListenAddress::to_string() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

ListenAddress ListenAddress::reachable() const {
  if (host == "0.0.0.0") return {"127.0.0.1", port};
  if (host == "::") return {"::1", port};
  return *this;
}

bool ListenAddress::is_loopback() const {
  if (host == "localhost" || host == "::1") return true;
  in_addr v4{};
  return ::inet_pton(AF_INET, host.c_str(), &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Status refused = invalid("not an address: \"" + std::string(text) + "\"; it must be host:port");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return refused;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  // In a bare IPv6 address the start of the port is ambiguous.
  if (!brackets && host.find(':') != std::string_view::npos) return refused;
  if (host.find_first_of(" []/,") != std::string_view::npos) return refused;
  ListenAddress address{std::string(host), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || port.empty()) return refused;
  return address;
}

}  // namespace bloomring
