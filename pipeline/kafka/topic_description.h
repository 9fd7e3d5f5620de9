// A topic as the brokers describe it. A value.
#pragma once

#include <cstdint>
#include <string>

namespace bloomring::kafka {

struct TopicDescription {
  std::string name;
  bool exists = false;
  int32_t partitions = 0;
  int32_t replication = 0;  // The smallest of its partitions.
};

}  // namespace bloomring::kafka
