#include <sys/stat.h>
#include <unistd.h>

#include "pipeline/settings/start_checks.h"
#include "tests/pipeline/settings/keys/loaded.h"
#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

// Everything that a process keeps or is told, with the modes that a careless umask gives.
struct Host {
  Host() {
    for (const char* name : {"store", "backups", "state"}) ::mkdir((folder / name).c_str(), 0700);
    for (const char* name : {"key", "token"}) write_file(folder / name, "secret");
    set_modes(0755, 0644);
  }
  void set_modes(mode_t of_folders, mode_t of_files) const {
    for (const char* name : {"store", "backups", "state"}) ::chmod((folder / name).c_str(), of_folders);
    for (const char* name : {"key", "token"}) ::chmod((folder / name).c_str(), of_files);
  }
  // The first word of each warning for these stages.
  std::vector<std::string> warned(const std::string& stages) const { return keys_of(found(stages)); }
  // The same with a filter store on servers.
  std::vector<std::string> warned_of_servers(const std::string& stages) const {
    const auto loaded = load({{"stages", stages},
                              {"store.kind", "redis"},
                              {"store.redis.addresses", "127.0.0.1:6379"},
                              {"store.path", folder / "store"},
                              {"state.path", folder / "state"},
                              {"admin.token_file", folder / "token"}});
    REQUIRE(loaded.ok());
    return keys_of(check_privacy(loaded->settings));
  }
  StartFindings found(const std::string& stages) const {
    const auto loaded = load({{"stages", stages},
                              {"store.path", folder / "store"},
                              {"store.backup_path", folder / "backups"},
                              {"state.path", folder / "state"},
                              {"serve.tls_certificate", folder / "certificate"},
                              {"serve.tls_key", folder / "key"},
                              {"admin.token_file", folder / "token"}});
    REQUIRE(loaded.ok());
    return check_privacy(loaded->settings);
  }
  static std::vector<std::string> keys_of(const StartFindings& found) {
    std::vector<std::string> keys;
    for (const std::string& line : found.warnings) keys.push_back(line.substr(0, line.find(' ')));
    return keys;
  }
  Folder folder;
};

using Keys = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "check privacy: what others may read is warned of, with the mode and the remedy, and only where a stage uses it") {
  const Host host;
  CHECK(host.warned("merge") == Keys{"store.path", "store.backup_path", "admin.token_file"});
  CHECK(host.warned("window") == Keys{"state.path", "admin.token_file"});
  CHECK(host.warned("serve") == Keys{"serve.tls_key", "admin.token_file"});
  CHECK(host.warned("ingest") == Keys{"admin.token_file"});
  const StartFindings found = host.found("merge");
  CHECK(found.errors.empty());
  CHECK_THAT(found.warnings.front(),
             Catch::Contains(host.folder / "store") && Catch::Contains("it holds the histories of users") &&
                 Catch::Contains("mode 0755, so other users of this host may read it") &&
                 Catch::Contains("chmod 700 " + (host.folder / "store")));
}

TEST_CASE("check privacy: what only its user may read is not warned of, and a group may read a secret but no history") {
  const Host host;
  host.set_modes(0700, 0600);
  CHECK(host.warned("ingest,window,merge,serve").empty());
  host.set_modes(0750, 0640);
  CHECK(host.warned("ingest,window,merge,serve") == Keys{"store.path", "store.backup_path", "state.path"});
}

TEST_CASE("check privacy: store.path is not warned of where the filter store is on servers") {
  const Host host;
  CHECK(host.warned_of_servers("merge") == Keys{"admin.token_file"});
  CHECK(host.warned_of_servers("window,merge") == Keys{"state.path", "admin.token_file"});
}

TEST_CASE("check privacy: what is not there yet is not warned of") {
  Host host;
  for (const char* name : {"store", "backups", "state"}) ::rmdir((host.folder / name).c_str());
  for (const char* name : {"key", "token"}) ::unlink((host.folder / name).c_str());
  CHECK(host.warned("ingest,window,merge,serve").empty());
}
