// Parses the list of brokers: "host:port,host:port", each with an optional protocol in front ("SASL_SSL://host:9093").
#pragma once

#include <string>
#include <vector>

namespace bloomring::kafka {

// "host:port" of each, without protocols.
std::vector<std::string> broker_addresses(const std::string& bootstrap);

// The first entry that is not a host with a port in [1, 65535]; empty when all are.
std::string first_wrong_broker(const std::string& bootstrap);

}  // namespace bloomring::kafka
