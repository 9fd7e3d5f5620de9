// bloomring::client: asks the query service from C++.
//
//   auto client = Client::connect({.server = "bloomring-serve:7700"});
//   Result<FilterReply> reply = client->filter({.user = "u1", .items = candidates});
//
// One client has one channel for each server that it is given, which spreads its calls over all addresses of that
// server's name (round robin). Calls have a deadline, always.
//
// Retries: a call that comes back UNAVAILABLE is tried again within its deadline, at the next server first. Nothing
// else is: a service that is overloaded is not asked more. That holds for the calls that write, too, because each may
// be carried out twice: an item that is recorded as served counts once, at its newest time, and a forget that is
// written twice takes what one at the time of the second takes (what the user did before the call, or during it).
//
// Errors: queries fail open unless told otherwise: when the service cannot be asked, the reply says that nothing was
// seen, is marked incomplete and carries the error, because a recommender prefers a doubtful answer to none. Otherwise
// kBadRecord for what the service refuses (INVALID_ARGUMENT), which never fails open; kRetry for UNAVAILABLE,
// RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED and FAILED_PRECONDITION (`strict`), kFatal for the rest.
//
// Threading: thread safe. A call holds the calling thread until it ends, at its deadline at the latest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/connection_options.h"
#include "client/tls_files.h"
#include "schemas/verdict.h"

namespace bloomring {

struct RetryOptions {
  int attempts_max = 3;        // Of one call, the first one included; 1: it is not tried again.
  int64_t pause_ms = 20;       // When every server was tried once; doubled each time.
  int64_t pause_max_ms = 500;  // Of each pause a random half to whole is waited.
};

struct ClientOptions {
  // "host:port", or anything that gRPC resolves ("dns:///name:port"); several with commas between.
  std::string server = {};
  int64_t deadline_ms = 1'000;  // Of each call, its retries included.
  bool fail_open = true;
  TlsClientFiles tls = {};        // Encrypted when a CA is named.
  int64_t write_deadline_ms = 0;  // Of calls that write, which wait for the log; 0: `deadline_ms`.
  RetryOptions retry = {};
  ConnectionOptions connection = {};
};

// Of one call.
struct CallOptions {
  int64_t deadline_ms = 0;  // 0: the client's.
};

struct FilterCall {
  std::string user;
  std::string scene;
  std::vector<std::string> items;        // Each 1 to 128 bytes, at most 20,000.
  std::vector<std::string> client_seen;  // What the caller knows to be seen.
  uint32_t min_keep = 0;                 // Relax when fewer items than this are unseen.
  bool all_scenes = false;               // Seen in any scene is seen; `scene` is empty then, and `min_keep` 0.
  bool strict = false;                   // A failure instead of an incomplete reply.
};

struct ItemVerdict {
  bool seen = false;
  Reason reason = Reason::kNone;
  std::string period;  // With Reason::kFilter: "2026-11".
};

struct FilterReply {
  std::vector<ItemVerdict> items;  // One for each item of the call.
  bool complete = false;
  std::vector<Gap> gaps;  // What is missing where `complete` is false.
  bool user_known = false;
  double expected_error = 0;
  bool saturated = false;  // A filter is past its cap; `expected_error` says what that means.
  // With `all_scenes`: those that were asked, and those of them in which anything is known of the user.
  std::vector<std::string> scenes = {};
  std::vector<std::string> known_scenes = {};
  Status error;            // Failed open: why the service could not be asked.
};

class Client {
 public:
  static std::unique_ptr<Client> connect(const ClientOptions& options);
  ~Client();

  Result<FilterReply> filter(const FilterCall& call, const CallOptions& options = {});

  // Many users in one call: the reply of each, in order, as `filter` would give it. At most 200, each with at most
  // 20,000 items, and at most 200,000 items in all unless the service is configured otherwise; kBadRecord for more.
  // What is UNAVAILABLE of some users only is asked again for these only.
  Result<std::vector<Result<FilterReply>>> filter_batch(const std::vector<FilterCall>& calls,
                                                        const CallOptions& options = {});

  // The blob that SnapshotFilter reads. Never fails open.
  Result<std::string> snapshot(const std::string& user, const std::string& scene, bool strict = false,
                               const CallOptions& options = {});
  // Returns when the items, in the order in which they were shown, are durable in the log. Never fails open; a kRetry
  // may have been recorded, and recording again is harmless.
  Status record_served(const std::string& user, const std::string& scene, const std::vector<std::string>& items,
                       const CallOptions& options = {});
  // Makes the user unsee one item, or everything in the scene. Returns when it is durable in the log; plays after this
  // call are seen again. Never fails open; a kRetry may have been written, and forgetting again is harmless.
  Status forget(const std::string& user, const std::string& scene, const std::string& item,
                const CallOptions& options = {});
  Status forget_everything(const std::string& user, const std::string& scene, const CallOptions& options = {});
  // The same in every scene. kRetry where the service does not know all scenes; see ForgetRequest.all_scenes.
  Status forget_in_all_scenes(const std::string& user, const std::string& item, const CallOptions& options = {});
  Status forget_everything_in_all_scenes(const std::string& user, const CallOptions& options = {});

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
