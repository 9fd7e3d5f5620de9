// The librdkafka properties that may not be set, with the reasons: the one list, for the configuration and every
// client.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bloomring::kafka {

// For each property that breaks a rule the text that follows "kafka.properties": "must not set acks to '1': a record
// is acknowledged once it is on all in-sync replicas; leave it out". Pure.
std::vector<std::string> check_rules(const std::map<std::string, std::string>& properties);

}  // namespace bloomring::kafka
