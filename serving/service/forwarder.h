// Passes calls on to other replicas: what this one does not hold, another does (serving/query/replica_placement.h).
//
// A call is passed on once: it carries a mark, and who gets a marked call never passes it on, so there is no loop
// whatever the replicas believe of each other. The caller's deadline and its giving up go with it. A replica that
// cannot answer now (UNAVAILABLE) is followed by the next one that holds the partition, each asked at most once; what a
// call writes may then be in the log twice, which is harmless. At most `in_flight_max` calls are under way; what comes
// beyond is refused, so that slow neighbours do not take all places from what is held here.
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
#include <string>
#include <vector>

#include "client/tls_files.h"
#include "schemas/bloomring.grpc.pb.h"

namespace bloomring {

struct ForwarderConfig {
  TlsClientFiles tls = {};  // With which other replicas are asked.
  int64_t in_flight_max = 512;
  int64_t wait_ms = 5'000;  // For an answer, where the caller has no deadline.
};

class Forwarder {
 public:
  using Stub = v1::BloomringService::Stub;
  using Done = std::function<void(grpc::Status)>;
  // Sends the call to the stub with this context. Called once for each replica that is asked.
  using Send = std::function<void(Stub&, grpc::ClientContext&, Done)>;

  explicit Forwarder(const ForwarderConfig& config) : config_(config) {}

  // True for a call that another replica has passed on.
  static bool is_marked(const grpc::CallbackServerContext& context);

  // Asks the replicas at these addresses, at least one, beginning with another one each time. `done` is called once, on
  // any thread, with the first status that is not UNAVAILABLE, else with UNAVAILABLE and what the last one said.
  // `context` lives until then.
  void forward(const grpc::CallbackServerContext& context, std::vector<std::string> addresses, Send send, Done done);

 private:
  struct Attempts;
  Stub& stub_of(const std::string& address);
  void ask_next(std::unique_ptr<Attempts> attempts);
  void answered(std::unique_ptr<Attempts> attempts, const grpc::Status& status);

  const ForwarderConfig config_;
  std::atomic<int64_t> in_flight_{0};
  std::atomic<size_t> turn_{0};
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Stub>> stubs_;  // By address; as many as there are replicas.
};

}  // namespace bloomring
