// The query service over a ServingWorld on a free port, and a stub for it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bloomring/v1/bloomring.grpc.pb.h"
#include "serving/server/grpc_server.h"
#include "tests/support/serving_world.h"

namespace bloomring {

namespace testing {

// Candidates that answered requests asked about.
inline uint64_t candidates(const ServingCounters& counters) {
  uint64_t all = 0;
  for (const auto& verdicts : counters.verdicts) all += verdicts.load();
  return all;
}

}  // namespace testing

// Holds one partition, or nothing.
class OnePartition final : public PartitionDirectory {
 public:
  uint32_t partition_count() const override { return 1; }
  std::shared_ptr<ReplicaPartition> find(PartitionId) const override { return held; }
  std::vector<std::string> holders(PartitionId) const override { return elsewhere; }
  AllScenes scenes() const override { return known.all(); }

  KnownScenes known;
  std::shared_ptr<ReplicaPartition> held;
  std::vector<std::string> elsewhere;  // Addresses of others that hold it.
};

// Notes what is appended and says that it is durable, or not, at once or when it is told to.
class EventLogDouble final : public EventLog {
 public:
  void append(const UserKey& user_key, std::span<const Event> events, Durable durable) override {
    Result<Appended> told = Appended{};
    {
      const std::lock_guard lock(mutex);
      for (const Event& event : events) appended.emplace_back(user_key, event);
      if (stalled) return waiting.push_back(std::move(durable));
      told = answer();
    }
    durable(std::move(told));
  }
  // Says so of all that waits.
  void acknowledge() {
    const std::lock_guard lock(mutex);
    for (auto& durable : waiting) durable(answer());
    waiting.clear();
  }
  std::atomic<bool> stalled{false};  // FAULT: no acknowledgement until `acknowledge`.
  std::mutex mutex;
  std::vector<Durable> waiting;
  std::function<int64_t()> now_ms = [] { return kStartMs; };  // Of the brokers.
  // Log times to come, one for each append; now where there are none.
  std::vector<int64_t> log_times_ms;
  Result<Appended> answer() {
    if (!outcome.ok()) return outcome;
    if (unacknowledged > 0 && unacknowledged-- > 0) return retry("no acknowledgement came");
    const Offset offset(next_offset++);
    if (log_times_ms.empty()) return Appended{offset, now_ms()};
    const int64_t log_time_ms = log_times_ms.front();
    log_times_ms.erase(log_times_ms.begin());
    return Appended{offset, log_time_ms};
  }

  int64_t next_offset = 0;  // Of the next append that is acknowledged.
  std::vector<std::pair<UserKey, Event>> appended;
  Status outcome;          // FAULT when not ok.
  int unacknowledged = 0;  // FAULT: of so many appends nobody hears, although they are in the log.
};

// Waits that a test leaves at their defaults are long ones: on a machine that stands still for half a second a sound
// store would else be one that does not answer.
inline GrpcServerConfig with_patience(GrpcServerConfig config) {
  constexpr int64_t kPatienceMs = 60'000;
  const FilterServiceConfig defaults;
  FilterServiceConfig& service = config.service;
  if (service.store_wait_ms == defaults.store_wait_ms) service.store_wait_ms = kPatienceMs;
  if (service.log_wait_ms == defaults.log_wait_ms) service.log_wait_ms = kPatienceMs;
  if (service.forward.wait_ms == defaults.forward.wait_ms) service.forward.wait_ms = kPatienceMs;
  return config;
}

// The service on a free port, and a stub for it.
struct Served {
  explicit Served(const GrpcServerConfig& config = {}, bool with_log = true) {
    partitions.held = world.partition;
    partitions.held->set_scenes(&partitions.known);
    log.now_ms = [this] { return world.log_now_ms(); };
    server = GrpcServer::start(with_patience(config), partitions, world.core, with_log ? &log : nullptr).value();
    server->set_serving(true);
    channel = grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials());
    stub = v1::BloomringService::NewStub(channel);
  }

  // A test that failed in the middle leaves no read for the server to wait for.
  ~Served() { world.store.stall_reads(false); }

  grpc::Status filter(const v1::FilterRequest& request, v1::FilterResponse* response) {
    grpc::ClientContext context;
    return stub->Filter(&context, request, response);
  }
  // The status of a request about user u1 that `change` has made wrong.
  grpc::Status refusal(const std::function<void(v1::FilterRequest&)>& change) {
    v1::FilterRequest request;
    request.set_user("u1");
    change(request);
    v1::FilterResponse response;
    return filter(request, &response);
  }

  grpc::Status record_served(const std::vector<std::string>& items) {
    grpc::ClientContext context;
    v1::RecordServedRequest request;
    request.set_user("u1");
    for (const std::string& item : items) request.mutable_items()->add_text(item);
    v1::RecordServedResponse response;
    return stub->RecordServed(&context, request, &response);
  }

  ServingWorld world;
  OnePartition partitions;
  EventLogDouble log;
  std::unique_ptr<GrpcServer> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::BloomringService::Stub> stub;
};

// The answer to `ask` within its deadline of two seconds. The service answers at nine tenths of a deadline: where the
// machine stood still for the last tenth, it is asked again with a longer one.
inline grpc::Status ask_in_time(const std::function<grpc::Status(grpc::ClientContext& context)>& ask) {
  grpc::Status status;
  for (const int64_t deadline_ms : {2'000, 10'000, 50'000}) {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(deadline_ms, GPR_TIMESPAN)));
    status = ask(context);
    if (status.error_code() != grpc::StatusCode::DEADLINE_EXCEEDED) break;
  }
  return status;
}

}  // namespace bloomring
