#include "pipeline/settings/start_checks.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "absl/time/time.h"
#include "base/config/listen_address.h"
#include "base/host/addresses.h"
#include "base/host/private_files.h"
#include "pipeline/settings/certificates.h"
#include "serving/admission/access.h"

namespace bloomring {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kExpiresSoonMs = 14 * int64_t{86'400'000};

std::string line(const std::string& key, const std::string& value, const std::string& reason,
                 const std::string& way_out) {
  return key + " is " + value + ": " + reason + "; " + way_out;
}

std::string minute(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

// Checks one file of certificates. `chain`: the first is used, and the others sign it. Otherwise the certificates are
// independent, and one valid one is enough.
void check_pem(const std::string& key, const std::string& path, bool chain, int64_t now_ms, StartFindings& found) {
  if (path.empty()) return;
  const auto read = read_certificates(path);
  if (!read.ok()) {
    found.errors.push_back(
        line(key, path, read.status().message(), "name a PEM file with certificates that this user may read"));
    return;
  }
  const auto by_end = [](const Certificate& a, const Certificate& b) { return a.not_after_ms < b.not_after_ms; };
  const Certificate& judged = chain ? read->front() : *std::max_element(read->begin(), read->end(), by_end);
  const std::string name = judged.name.empty() ? "its certificate" : "its certificate (" + judged.name + ")";
  if (judged.not_after_ms < now_ms) {
    found.errors.push_back(line(key, path, name + " has expired on " + minute(judged.not_after_ms), "renew it"));
  } else if (judged.not_before_ms > now_ms) {
    found.errors.push_back(line(key, path, name + " is not valid before " + minute(judged.not_before_ms),
                                "correct this machine's clock, or name another one"));
  } else if (judged.not_after_ms < now_ms + kExpiresSoonMs) {
    found.warnings.push_back(
        line(key, path, name + " expires on " + minute(judged.not_after_ms), "renew it before that"));
  }
}

// Why the folder, or one made at its path, is not writable; empty when it is.
std::string write_failure(const fs::path& folder) {
  fs::path there = fs::absolute(folder);
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error)) return there.string() + " is no folder";
  std::string trial = (there / ".bloomring-XXXXXX").string();
  if (::mkdtemp(trial.data()) != nullptr) {
    ::rmdir(trial.c_str());
    return "";
  }
  const char* what = there == fs::absolute(folder) ? "it cannot be written to: " : "the folder cannot be made: ";
  return what + std::string(std::strerror(errno));
}

void check_folder(const std::string& key, const std::string& path, StartFindings& found) {
  const std::string why = write_failure(path);
  if (!why.empty()) found.errors.push_back(line(key, path, why, "name a folder that this user may make and write to"));
}

// The errno of an attempt to listen there; 0 on success.
int listen_error(const addrinfo& address) {
  const int listener = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) return errno;
  const int yes = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool listens = ::bind(listener, address.ai_addr, address.ai_addrlen) == 0 && ::listen(listener, 1) == 0;
  const int error = listens ? 0 : errno;
  ::close(listener);
  return error;
}

void check_port(const std::string& key, const std::string& listen, const OwnHolder& own_holder, StartFindings& found) {
  const auto address = parse_listen_address(listen);
  if (!address.ok() || address->port == 0) return;
  const auto addresses = resolve(address->host, address->port, AddressUse::kListen);
  if (!addresses.ok()) {
    found.errors.push_back(line(key, listen, "no such host: " + addresses.status().message(),
                                "name an address of this machine, or 0.0.0.0 for all"));
    return;
  }
  const int error = listen_error(**addresses);
  const std::string own = error == EADDRINUSE && own_holder ? own_holder(key, listen) : "";
  if (!own.empty()) {
    found.warnings.push_back(
        line(key, listen, own, "a second process of this configuration would be refused while that one runs"));
  } else if (error == EADDRINUSE) {
    found.errors.push_back(line(key, listen, "the port is taken by another process",
                                "end that one, or set " + key + " to a free port (port 0 takes any)"));
  } else if (error != 0) {
    found.errors.push_back(
        line(key, listen, std::string("nothing can listen there: ") + std::strerror(error),
             "name an address of this machine, or 0.0.0.0 for all, and a port that this user may take"));
  }
}

// A group may read a file of secrets: that is how they are mounted into containers.
void warn_of_readers(const std::string& key, const std::string& path, const std::string& reason,
                     const std::string& cure, StartFindings& found) {
  const std::string mode = path.empty() ? "" : readable_by_others(path, cure == "chmod 640");
  if (mode.empty()) return;
  found.warnings.push_back(line(key, path, reason + " and has " + mode + ", so other users of this host may read it",
                                cure + " " + path));
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

Status StartFindings::status() const {
  std::string text;
  for (const std::string& error : errors) text += (text.empty() ? "" : "\n") + error;
  return errors.empty() ? Status() : invalid(text);
}

StartFindings check_certificates(const Settings& settings, int64_t now_ms) {
  StartFindings found;
  const TlsServerFiles& tls = settings.serve.tls;
  if (!take_calls(settings.stages) || !tls.enabled()) return found;
  check_pem("serve.tls_certificate", tls.certificate, true, now_ms, found);
  const Status pair = check_key(tls.key, tls.certificate);
  if (!pair.ok()) {
    found.errors.push_back(
        line("serve.tls_key", tls.key, pair.message(),
             "name the PEM file with the private key of serve.tls_certificate, without a passphrase"));
  }
  check_pem("serve.tls_client_ca", tls.client_ca, false, now_ms, found);
  check_pem("serve.tls_peer_ca", settings.serve.tls_peer_ca, false, now_ms, found);
  return found;
}

StartFindings check_folders(const Settings& settings) {
  StartFindings found;
  std::error_code error;
  const auto store = settings.store.folder();
  const StoreRole role = store ? store_role(settings.stages) : StoreRole::kNone;
  if (role == StoreRole::kWrites) {
    check_folder("store.path", *store, found);
  } else if (role == StoreRole::kReads && fs::exists(*store, error) && !fs::is_directory(*store, error)) {
    found.errors.push_back(line("store.path", *store, "it is no folder", "name the folder of the filter store"));
  }
  if (keep_state(settings.stages)) check_folder("state.path", settings.state.path, found);
  return found;
}

StartFindings check_ports(const Settings& settings, const OwnHolder& own_holder) {
  StartFindings found;
  check_port("admin.listen", settings.admin.listen, own_holder, found);
  if (!settings.admin.health_listen.empty()) {
    check_port("admin.health_listen", settings.admin.health_listen, own_holder, found);
  }
  if (!take_calls(settings.stages)) return found;
  const std::string& listen = settings.serve.listen;
  const auto address = parse_listen_address(listen);
  if (listen == settings.admin.listen && address.ok() && address->port != 0) {
    found.errors.push_back(line("serve.listen", listen, "admin.listen is the same", "give each a port of its own"));
  } else {
    check_port("serve.listen", listen, own_holder, found);
  }
  return found;
}

StartFindings check_privacy(const Settings& settings) {
  StartFindings found;
  const auto store = settings.store.folder();
  if (store && store_role(settings.stages) == StoreRole::kWrites) {
    warn_of_readers("store.path", *store, "it holds the histories of users", "chmod 700", found);
    warn_of_readers("store.backup_path", settings.store.backup_path, "it holds the histories of users", "chmod 700",
                    found);
  }
  if (keep_state(settings.stages)) {
    warn_of_readers("state.path", settings.state.path, "it holds the histories of users", "chmod 700", found);
  }
  if (take_calls(settings.stages)) {
    warn_of_readers("serve.tls_key", settings.serve.tls.key, "it is a private key", "chmod 640", found);
  }
  warn_of_readers("admin.token_file", settings.admin.token_file, "it holds a secret", "chmod 640", found);
  return found;
}

StartFindings check_access(const Settings& settings) {
  StartFindings found;
  const std::string& path = settings.serve.access_file;
  if (path.empty() || !take_calls(settings.stages)) return found;
  const auto opened = Access::open(path);
  if (!opened.ok()) {
    found.errors.push_back(line("serve.access_file", path, opened.status().message(),
                                "name a file with lines as docs/security.md shows"));
  }
  return found;
}

StartFindings check_start(const Settings& settings, int64_t now_ms) {
  StartFindings all;
  for (const StartFindings& found : {check_certificates(settings, now_ms), check_folders(settings),
                                     check_ports(settings, {}), check_privacy(settings), check_access(settings)}) {
    append(all.errors, found.errors);
    append(all.warnings, found.warnings);
  }
  return all;
}

}  // namespace bloomring
