// Finds on this machine, before anything starts, the reasons why a process could not start. `run` then refuses to
// start, and `bloomring check` reports them.
//
// Each finding is a line in the form of base/config/finding.h, with key, value, reason and remedy. Only the needs of
// the configured stages are checked.
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
  std::vector<std::string> warnings;  // It would start, but not for long, or not next to the one that runs.

  // kInvalid with a line for each error.
  Status status() const;
};

// Checks the PEM files of the gRPC port: present, readable, key and certificate match, not expired. Warns of
// certificates that expire within two weeks.
StartFindings check_certificates(const Settings& settings, int64_t now_ms);

// Checks that state.path, and store.path of a store in a folder, are folders, or can be made, and can be written to.
// Leaves nothing behind.
StartFindings check_folders(const Settings& settings);

// Names the process that already listens at the address of a key, if it belongs to this installation: "held by ...".
// Empty for any other process.
using OwnHolder = std::function<std::string(const std::string& key, const std::string& address)>;

// Checks that the process can listen on admin.listen and serve.listen. A port in use is an error, or only a warning
// when `own_holder` (may be empty) recognizes the process as one of this installation.
StartFindings check_ports(const Settings& settings, const OwnHolder& own_holder);

// Warns of folders with histories, and files with secrets, that other users of this host may read.
StartFindings check_privacy(const Settings& settings);

// Checks that the list of who may call (serve.access_file) can be read.
StartFindings check_access(const Settings& settings);

// All these checks, for a start now.
StartFindings check_start(const Settings& settings, int64_t now_ms);

}  // namespace bloomring
