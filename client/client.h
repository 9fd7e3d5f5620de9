// bloomring::client: asks the query service from C++.
//
//   auto client = Client::connect({.server = "bloomring-serve:7700"});
//   Result<FilterReply> reply = client->filter({.user = "u1", .items = candidates});
//
// A client has one channel for each of its servers, which spreads its calls over all addresses of that server's name
// (round robin). Every call has a deadline.
//
// Retries: the client retries an UNAVAILABLE call within its deadline, first at the next server. It retries no other
// status, so as not to add load to an overloaded service. It retries writes, too, because repeating them is harmless:
// an item recorded as served twice counts once, at its newest time, and a forget written twice has the effect of one
// at the time of the second (it covers the events before the call, or during it).
//
// Errors: queries fail open by default: when the service cannot be asked, the reply marks every item unseen and itself
// incomplete, and carries the error, because a recommender prefers a doubtful answer to none. Otherwise:
// - kBadRecord for requests that the service refuses (INVALID_ARGUMENT); these never fail open;
// - kRetry for UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED and FAILED_PRECONDITION (`strict`);
// - kFatal for the rest.
//
// Threading: thread safe. A call blocks the calling thread until it ends, at its deadline at the latest.
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
  int attempts_max = 3;        // Of one call, the first one included; 1: no retries.
  int64_t pause_ms = 20;       // After every server was tried once; doubled each time.
  int64_t pause_max_ms = 500;  // The client waits a random half to whole of each pause.
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
  std::vector<std::string> client_seen;  // Items that the caller knows to be seen.
  uint32_t min_keep = 0;                 // Relax when fewer items than this are unseen.
  bool all_scenes = false;               // Seen in any scene counts; needs empty `scene`, `min_keep` 0.
  bool strict = false;                   // Fail instead of giving an incomplete reply.
};

struct ItemVerdict {
  bool seen = false;
  Reason reason = Reason::kNone;
  std::string period;  // With Reason::kFilter: "2026-11".
};

struct FilterReply {
  std::vector<ItemVerdict> items;  // One for each item of the call.
  bool complete = false;
  std::vector<Gap> gaps;  // The missing parts when `complete` is false.
  bool user_known = false;
  double expected_error = 0;
  bool saturated = false;  // A filter is past its cap; `expected_error` says what that means.
  // With `all_scenes`: the scenes asked, and those of them that have any event of the user.
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
  // When only some users are UNAVAILABLE, the client retries only these.
  Result<std::vector<Result<FilterReply>>> filter_batch(const std::vector<FilterCall>& calls,
                                                        const CallOptions& options = {});

  // The blob that SnapshotFilter reads. Never fails open.
  Result<std::string> snapshot(const std::string& user, const std::string& scene, bool strict = false,
                               const CallOptions& options = {});
  // Returns when the items, in the order in which they were shown, are durable in the log. Never fails open. After
  // kRetry the items may have been recorded; recording again is harmless.
  Status record_served(const std::string& user, const std::string& scene, const std::vector<std::string>& items,
                       const CallOptions& options = {});
  // Makes the user unsee one item, or everything in the scene. Returns when it is durable in the log; plays after this
  // call count as seen again. Never fails open. After kRetry the forget may have been written; forgetting again is
  // harmless.
  Status forget(const std::string& user, const std::string& scene, const std::string& item,
                const CallOptions& options = {});
  Status forget_everything(const std::string& user, const std::string& scene, const CallOptions& options = {});
  // The same in every scene. kRetry when the service does not know all scenes; see ForgetRequest.all_scenes.
  Status forget_in_all_scenes(const std::string& user, const std::string& item, const CallOptions& options = {});
  Status forget_everything_in_all_scenes(const std::string& user, const CallOptions& options = {});

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
