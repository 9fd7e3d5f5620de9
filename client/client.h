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
// Threading: thread safe. A call blocks the calling thread until it ends, at its deadline at the latest. gRPC ends its
// threads in the background after the destructor of the last client: a program that ends at once calls
// `std::quick_exit`, because such a thread may use static objects that `exit` has destroyed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client_options.h"
#include "client/filter_call.h"

namespace bloomring {

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
