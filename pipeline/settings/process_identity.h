// The identity of a process: written at /version of its admin port, and parsed by other processes.
//
//   {"program":"bloomring","version":"0.1.0","commit":"0123456789ab","instance":"host-1","stages":["merge","serve"],
//    "kafka":"broker-1:9092","group_prefix":"bloomring","grpc":"0.0.0.0:7700"}
//
// `grpc` is serve.listen, if the serve stage runs. More fields may be added.
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

  // True when both read the same topics for the same groups.
  bool same_installation(const ProcessIdentity& other) const;
  // "instance host-1, stages merge,serve"
  std::string to_string() const;
};

ProcessIdentity identity_of(const Settings& settings);
std::string to_json(const ProcessIdentity& identity);
// kInvalid for text that no bloomring process wrote.
Result<ProcessIdentity> parse_identity(std::string_view json);

}  // namespace bloomring
