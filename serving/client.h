// bloomring::client: asks the query service from C++.
//
//   auto client = Client::connect({.server = "bloomring-serve:7700"});
//   Result<FilterReply> reply = client->filter({.user = "u1", .items = candidates});
//
// One client is one channel, which spreads its calls over all addresses of the server's name (round robin). Calls have
// a deadline, always. They fail open unless told otherwise: when the service cannot be asked, the reply says that
// nothing was seen, is marked incomplete and carries the error, because a recommender prefers a doubtful answer to
// none.
//
// Threading: thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "serving/tls_files.h"
#include "serving/verdict.h"

namespace bloomring {

struct ClientOptions {
  std::string server = {};      // "host:port", or anything that gRPC resolves ("dns:///name:port").
  int64_t deadline_ms = 1'000;  // Of each call.
  bool fail_open = true;
  TlsClientFiles tls = {};  // Encrypted when a CA is named.
};

struct FilterCall {
  std::string user;
  std::string scene;
  std::vector<std::string> items;        // Each 1 to 128 bytes, at most 20,000.
  std::vector<std::string> client_seen;  // What the caller knows to be seen.
  uint32_t min_keep = 0;                 // Relax when fewer items than this are unseen.
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
  Status error;            // Failed open: why the service could not be asked.
};

class Client {
 public:
  static std::unique_ptr<Client> connect(const ClientOptions& options);
  ~Client();

  // kBadRecord for what the service refuses (INVALID_ARGUMENT); it never fails open. Otherwise, when not failing open:
  // kRetry for UNAVAILABLE, RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED, kFatal for the rest.
  Result<FilterReply> filter(const FilterCall& call);

  // The blob that SnapshotFilter reads. Never fails open.
  Result<std::string> snapshot(const std::string& user, const std::string& scene, bool strict = false);
  // Returns when the items, in the order in which they were shown, are durable in the log. Never fails open; a kRetry
  // may have been recorded, and recording again is harmless.
  Status record_served(const std::string& user, const std::string& scene, const std::vector<std::string>& items);
  // Makes the user unsee one item, or everything in the scene. Returns when it is durable in the log; plays after this
  // call are seen again. Never fails open; a kRetry may have been written, and forgetting again is harmless.
  Status forget(const std::string& user, const std::string& scene, const std::string& item);
  Status forget_everything(const std::string& user, const std::string& scene);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
