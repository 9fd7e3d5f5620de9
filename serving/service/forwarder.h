// Forwards calls about partitions that this replica does not hold to one that does
// (serving/query/replica_placement.h).
//
// - A call is forwarded once: it carries a mark, and a replica never forwards a marked call. So there is no loop, even
//   if replicas disagree about placement.
// - The caller's deadline and cancellation go with the call.
// - When a replica is UNAVAILABLE, the next holder of the partition is asked, each at most once. A write may then be
//   in the log twice, which is harmless.
// - At most `in_flight_max` forwarded calls are in flight, each about one user. Further ones are refused, so that slow
//   neighbours do not use up the places for partitions held here. A caller (serving/admission/caller.h) takes at most
// as
//   many places as it leaves free: half of them alone, a third next to another that takes all it can. So the batches
//   of one caller never leave another without a place.
//
// Threading: thread safe. No thread waits for an answer.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/scatter.h"
#include "client/tls_files.h"
#include "bloomring/v1/bloomring.grpc.pb.h"

namespace bloomring {

struct ForwarderConfig {
  TlsClientFiles tls = {};  // For connections to other replicas.
  int64_t in_flight_max = 1'024;  // A caller alone has half of them.
  int64_t wait_ms = 5'000;  // For an answer, when the caller has no deadline.
};

class Forwarder {
 public:
  using Stub = v1::BloomringService::Stub;
  using Done = std::function<void(grpc::Status)>;
  // Sends the call to the stub with this context. Called once for each replica that is asked.
  using Send = std::function<void(Stub&, grpc::ClientContext&, Done)>;

  explicit Forwarder(const ForwarderConfig& config) : config_(config) {}

  // True for a call that another replica forwarded.
  static bool is_marked(const grpc::CallbackServerContext& context);

  // Asks the replicas at these addresses, at least one, starting with a different one each time. Calls `done` once, on
  // any thread, with the first status other than UNAVAILABLE, else with UNAVAILABLE and the last message. `context`
  // lives until then.
  void forward(const grpc::CallbackServerContext& context, std::vector<std::string> addresses, Send send, Done done);

 private:
  struct Attempts;
  Stub& stub_of(const std::string& address);
  // Says why there is no place for another call of this caller; nothing when it has taken one.
  std::optional<std::string> take_place(uint64_t caller);
  void give_place_back(uint64_t caller);
  void ask_next(std::unique_ptr<Attempts> attempts);
  void answered(std::unique_ptr<Attempts> attempts, const grpc::Status& status);

  const ForwarderConfig config_;
  std::atomic<size_t> turn_{0};
  std::mutex mutex_;
  int64_t in_flight_ = 0;
  std::unordered_map<uint64_t, int64_t, Scattered> in_flight_of_;  // Of callers with any.
  std::map<std::string, std::unique_ptr<Stub>> stubs_;  // By address; as many as there are replicas.
};

}  // namespace bloomring
