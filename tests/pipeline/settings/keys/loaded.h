// Settings of keys and values, for the tests of what settings are made of.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/settings/keys/load_settings.h"
#include "pipeline/stages/topology.h"

namespace bloomring {

// Loads with these keys set as flags, and nothing else from outside.
inline Result<LoadedSettings> load(std::vector<std::pair<std::string, std::string>> values) {
  ConfigSources sources;
  for (auto& [key, value] : values) sources.flags.push_back({key, value, "--" + key});
  return load_settings(sources, topology());
}

// Their faults; empty without one.
inline std::string complaint(std::vector<std::pair<std::string, std::string>> values) {
  const Result<LoadedSettings> loaded = load(std::move(values));
  CHECK((loaded.ok() || loaded.code() == Code::kInvalid));
  return loaded.status().message();
}

}  // namespace bloomring
