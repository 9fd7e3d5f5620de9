// Internal to pipeline/kafka: which librdkafka properties may not be set, and why.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace bloomring::kafka {

// kInvalid, naming the property and the reason, for the first property that breaks a rule. Pure.
Status check_rules(const std::map<std::string, std::string>& properties);

}  // namespace bloomring::kafka
