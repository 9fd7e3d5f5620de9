// An ACL of the brokers, as their authorizer keeps it.
// Threading: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bloomring::kafka {

struct Acl {
  std::string resource;  // "topic", "group", "cluster"; empty for a kind that librdkafka 2.0.2 does not know.
  std::string name;      // "*" stands for all.
  bool prefixed = false;  // For all resources whose names begin with `name`.
  std::string principal;  // "User:NAME"; "User:*" is everybody.
  std::string host;       // "*" stands for all.
  std::string operation;  // By Kafka's names: "Read", "DescribeConfigs", "All".
  bool allows = true;     // False: denies, whatever others allow.
  bool operator==(const Acl&) const = default;
};

struct AclList {
  enum class Known : uint8_t {
    kYes,
    kNoAuthorizer,  // The brokers let everybody do everything.
    kNotAllowed,    // The asking user has no right to know.
    kNone,          // They showed none: one of the two above, or there are none. librdkafka 2.0.2 hides which.
  };
  Known known = Known::kYes;
  std::vector<Acl> acls{};  // With kYes, not empty.
};

}  // namespace bloomring::kafka
