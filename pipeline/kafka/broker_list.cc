#include "pipeline/kafka/broker_list.h"

#include <sstream>

#include "base/config/listen_address.h"

namespace bloomring::kafka {

std::vector<std::string> broker_addresses(const std::string& bootstrap) {
  std::vector<std::string> found;
  std::istringstream rest(bootstrap);
  for (std::string one; std::getline(rest, one, ',');) {
    one.erase(0, one.find_first_not_of(' '));
    one.erase(one.find_last_not_of(' ') + 1);
    const size_t protocol = one.find("://");
    found.push_back(protocol == std::string::npos ? one : one.substr(protocol + 3));
  }
  return found;
}

std::string first_wrong_broker(const std::string& bootstrap) {
  for (const std::string& address : broker_addresses(bootstrap)) {
    const auto parsed = parse_listen_address(address);
    if (!parsed.ok() || parsed->port == 0) return address.empty() ? "an empty one" : address;
  }
  return "";
}

}  // namespace bloomring::kafka
