// Who a process is: what it tells at /version of its admin port, and what others that ask make of it.
//
//   {"program":"bloomring","version":"0.1.0","commit":"0123456789ab","instance":"host-1","stages":["merge","serve"],
//    "kafka":"broker-1:9092","group_prefix":"bloomring","grpc":"0.0.0.0:7700"}
//
// `grpc` is serve.listen, where the serve stage runs. More fields may come.
// Threading: values and pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

struct ProcessIdentity {
  std::string version;
  std::string commit;
  std::string instance;
  std::vector<std::string> stages;
  std::string kafka;
  std::string group_prefix;
  std::string grpc;

  // Both read the same topics for the same groups.
  bool same_installation(const ProcessIdentity& other) const;
  // "instance host-1, stages merge,serve"
  std::string to_string() const;
};

ProcessIdentity identity_of(const Settings& settings);
std::string to_json(const ProcessIdentity& identity);
// kInvalid for what no bloomring process has written.
Result<ProcessIdentity> parse_identity(std::string_view json);

}  // namespace bloomring
