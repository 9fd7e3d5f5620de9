// The text that names brokers: "host:port,host:port", each with a protocol in front where a site writes one
// ("SASL_SSL://host:9093").
#pragma once

#include <string>
#include <vector>

namespace bloomring::kafka {

// "host:port" of each, without protocols.
std::vector<std::string> broker_addresses(const std::string& bootstrap);

// Empty, or the first of them that is no host and port in [1, 65535].
std::string first_wrong_broker(const std::string& bootstrap);

}  // namespace bloomring::kafka
