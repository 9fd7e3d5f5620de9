// A backup as commands and the admin port print it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "state/store/embedded/store_backup.h"

namespace bloomring {

inline std::string backup_json(const StoreBackup& backup) {
  nlohmann::ordered_json json = {
      {"backup", backup.id}, {"time_ms", backup.time_ms}, {"bytes", backup.bytes}, {"files", backup.files}};
  if (backup.bytes_new > 0) json["bytes_new"] = backup.bytes_new;
  return json.dump();
}

}  // namespace bloomring
