// What would keep a process from starting, found on this machine before anything is started: for `run`, which refuses
// it, and for `bloomring check`.
//
// Each finding is a line of the form of base/config/finding.h, with key, value, reason and way out. Only what the
// stages of the settings need is looked at.
// Threading: pure functions of the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/settings/settings.h"

namespace bloomring {

struct StartFindings {
  std::vector<std::string> errors;
  std::vector<std::string> warnings;  // It would start, but not for long, or not beside the one that runs.

  // kInvalid with a line for each error.
  Status status() const;
};

// The PEM files of the gRPC port: there, readable, a certificate with its own key, not expired. Warns of what expires
// within two weeks.
StartFindings check_certificates(const Settings& settings, int64_t now_ms);

// Whether store.path and state.path are folders, or can be made, and can be written to. Makes nothing that stays.
StartFindings check_folders(const Settings& settings);

// Says who listens at the address of a key already, if that is a process of this very installation: "held by ...".
// Empty for a stranger.
using OwnHolder = std::function<std::string(const std::string& key, const std::string& address)>;

// Whether admin.listen and serve.listen can be listened on. A port that somebody listens on already is an error, and a
// warning where `own_holder`, which may be empty, knows the process as one of this installation.
StartFindings check_ports(const Settings& settings, const OwnHolder& own_holder);

// All of them, for a start now.
Status check_start(const Settings& settings, int64_t now_ms);

}  // namespace bloomring
