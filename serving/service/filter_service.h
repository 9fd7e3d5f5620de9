// Implements the calls of bloomring.v1.BloomringService on the partitions that this replica holds.
//
// Errors: expected failures become the status codes that schemas/bloomring/v1/bloomring.proto documents.
// - A slow or failing filter store makes an answer incomplete instead: a call waits for the store at most
//   `store_wait_ms` and nine tenths of the time to its deadline.
// - An event log that does not answer within `log_wait_ms` makes a call UNAVAILABLE.
// - The service answers at most `in_flight_max` users at once (a batch counts all its own). Requests and answers take
//   at most `memory_bytes_max`: a call takes its share before its message is parsed. A call that finds no room for
//   either waits at most `admission_wait_ms` and nine tenths of the time to its deadline, in turns that are fair
//   between callers (serving/admission/call_gate.h); then it is RESOURCE_EXHAUSTED. `read_pool` queues a bounded number
//   of reads of the store, fair in the same way. So memory stays flat under overload, and one caller's batches do not
//   push out another's calls.
// Threading: gRPC calls from its own threads, which never wait for the store.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "bloomring/v1/bloomring.grpc.pb.h"
#include "serving/admission/access.h"
#include "serving/admission/audit_rate.h"
#include "serving/admission/call_gate.h"
#include "serving/admission/call_places.h"
#include "serving/legacy/read_through.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/replica_partition.h"
#include "serving/service/counters.h"
#include "serving/service/event_log.h"
#include "serving/service/forwarder.h"
#include "serving/service/open_call.h"
#include "serving/service/open_calls.h"
#include "serving/service/request_codec.h"
#include "serving/service/waiting_read.h"
#include "state/store/pooled_filter_reader.h"

namespace bloomring {

enum class Method : uint8_t { kFilter, kFilterBatch, kGetSnapshot, kRecordServed, kForget };
inline constexpr size_t kMethodCount = 5;
std::string_view method_name(Method method);  // As in the protocol: "FilterBatch".

struct FilterServiceConfig {
  RequestLimits limits = {};
  int64_t in_flight_max = 1'024;  // Users of calls; at least limits.batch_max.
  size_t memory_bytes_max = 256 << 20;  // Of requests that are parsed, and their answers (message_cost.h).
  int64_t admission_wait_ms = 100;      // 0: a call that finds no room is refused at once.
  CallQueueBounds waiting = {};         // Of calls that wait for room.
  int64_t store_wait_ms = 500;
  int64_t log_wait_ms = 5'000;
  int64_t slot_ms = 3'600'000;  // Of the ring.
  // The threads that read the filter store, and the most reads that wait for one. Nothing: the store reads without
  // blocking its caller.
  std::optional<FilterReadPool> read_pool = FilterReadPool{};
  ForwarderConfig forward = {};
  ReadThroughConfig read_through = {};
  const Access* access = nullptr;  // The rights of callers; outlives the service. Null: everybody may make all.
  // Called at the end of every call with its status and duration. gRPC's threads call it, so it must be thread safe.
  std::function<void(Method, const grpc::Status&, double seconds)> observe = {};
  // Called with every answer that this replica made itself, from the same threads.
  std::function<void(const FilterAnswer&)> observe_answer = {};
};

// The facts about a call where it begins.
struct CallStart {
  Method method;
  grpc::CallbackServerContext& context;  // The caller, its metadata and its deadline.
  size_t bytes;                          // Of the message.
};

class FilterService final {
 public:
  // Calls that write return UNIMPLEMENTED without a log. `core` outlives the service, and the appends to the log; so do
  // the places its calls.
  FilterService(const PartitionDirectory& partitions, CandidateFilter& core, EventLog* log, CallPlaces& places,
                const FilterServiceConfig& config);
  // Waits for the reads of the store that are under way.
  ~FilterService();
  FilterService(const FilterService&) = delete;

  // The call that gRPC hands over at its headers; null where its method is none of the service.
  grpc::ServerGenericBidiReactor* open(grpc::GenericCallbackServerContext& context);

  const ServingCounters& counters() const { return counters_; }
  uint64_t reads_refused() const { return pool_ ? pool_->refused() : 0; }  // For lack of room in their queue.
  // Refuses new calls with UNAVAILABLE from now on. True when all earlier calls were answered within `bound_ms`.
  bool end_calls(int64_t bound_ms);

 private:
  using Done = std::function<void(grpc::Status)>;  // Ends a call or a request of a batch; called once.

  // Looks the user up and waits for the filters. Then calls `ended` with them, or `done` with an error.
  void read(const grpc::CallbackServerContext& context, const UserKey& user_key, const ReplicaPartition& partition,
            const WantedPlays& wanted, const Done& done, WaitingRead::Ended ended);
  // The same where the old store is read through; `until` is the end of the call's patience.
  void read_through(const grpc::CallbackServerContext& context, const UserKey& user_key,
                    const ReplicaPartition& partition, const WantedPlays& wanted, gpr_timespec until,
                    WaitingRead::Ended ended);
  void begin_read(const grpc::CallbackServerContext& context, const UserKey& user_key, UserLookup lookup,
                  gpr_timespec until, WaitingRead::Ended ended);
  void filter(const grpc::CallbackServerContext& context, const v1::FilterRequest& request, Done done,
              v1::FilterResponse& response);
  void filter_batch(const grpc::CallbackServerContext& context, const v1::FilterBatchRequest& request, Done done,
                    v1::FilterBatchResponse& response);
  using Decoded = std::shared_ptr<const DecodedFilter>;  // Shared by all scenes of a call.
  // Reads only the switches of `request`. `request` and `response` live until `done`.
  void filter_here(const grpc::CallbackServerContext& context, const v1::FilterRequest& request, const Decoded& decoded,
                   const UserKey& user_key, const std::shared_ptr<ReplicaPartition>& partition, Done done,
                   v1::FilterResponse& response);
  void filter_there(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                    const UserKey& user_key, const Status& reason, Done done, v1::FilterResponse& response);
  struct ScenesCall;
  void filter_all_scenes(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                         const Decoded& decoded, Done done, v1::FilterResponse& response);
  void ask_scene(const grpc::CallbackServerContext& context, const std::shared_ptr<ScenesCall>& call, size_t part);
  AllScenes all_scenes() const;
  grpc::Status conclude(const v1::FilterRequest& request, const FilterAnswer& answer, v1::FilterResponse& response);
  void record_served(const grpc::CallbackServerContext& context, const v1::RecordServedRequest& request, Done done,
                     v1::RecordServedResponse& response);
  void get_snapshot(const grpc::CallbackServerContext& context, const v1::GetSnapshotRequest& request, Done done,
                    v1::GetSnapshotResponse& response);
  struct ForgetCall;
  void forget(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done done,
              v1::ForgetResponse& response);
  void forget_in_scene(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done done,
                       v1::ForgetResponse& response);
  void forget_in_all_scenes(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done done);
  // Appends the forget. Appends it again when the log's answer shows that its time was too early, or that it was
  // logged in a later hour: a forget that is logged in its own hour reaches furthest.
  void append_forget(const std::shared_ptr<ForgetCall>& call);
  Event make_forget(const ForgetCall& call) const;
  // Handles a call about a user whose partition this replica does not answer for, because of `reason`: forwards it by
  // `send`, or refuses it and names the holders of the partition.
  void forward_or_redirect(const grpc::CallbackServerContext& context, const UserKey& user_key,
                           v1::ForwardPolicy policy, const Status& reason, Forwarder::Send send, Done done);
  // The one place where a call begins. Returns a function that ends the call and counts it; null when it refused the
  // call: its deadline has passed, the service ends, or the caller may not make it.
  Done admit(const CallStart& start, OpenCall& call);
  // Takes memory for an answer whose size was not known before, until its client has read it. The refusal where too
  // little is left for this caller.
  grpc::Status hold_answer(grpc::CallbackServerContext& context, OpenCall& call);
  template <typename Request, typename Response, typename Handle>
  grpc::ServerGenericBidiReactor* open_call(Method method, grpc::CallbackServerContext& context, Handle handle);
  // Admits the call, now or when its turn comes, parses its message and hands it to `handle`, a member of this class.
  template <typename Request, typename Response, typename Handle>
  void begin(Method method, CallOf<Request, Response>& call, Handle handle);
  // Writes the users and bytes that the message needs into `need`. INVALID_ARGUMENT for bytes that are no message, for
  // a batch of too many requests, and for a message that takes more than all memory for requests.
  template <typename Request>
  grpc::Status weigh(grpc::ByteBuffer& message, CallNeed& need) const;
  // The status of a call that the gate did not admit. A full gate tells the client when to come again.
  grpc::Status refuse(grpc::CallbackServerContext& context, const CallGate::Answer& answer) const;
  bool may(const CallStart& start) const;
  // A line in the log about a forget that its caller may not make (serving/admission/audit_rate.h).
  void audit_denied(const grpc::CallbackServerContext& context);
  // The same, with a line in the log about the forget and its caller.
  Done audited(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request, Done done) const;
  static int64_t patience_ms(gpr_timespec deadline, int64_t wait_ms_max);
  static gpr_timespec patience_end(gpr_timespec deadline, int64_t wait_ms_max);
  void count(const grpc::Status& status);
  void count(const FilterAnswer& answer);
  void count_known(bool complete, bool user_known);

  const PartitionDirectory& partitions_;
  CandidateFilter& core_;
  EventLog* const log_;
  const FilterServiceConfig config_;
  ServingCounters counters_;
  CallPlaces& places_;
  CallGate gate_;
  AuditRate denied_;
  OpenCalls open_calls_;
  Forwarder forwarder_;
  const std::shared_ptr<OpenCalls> reads_ = std::make_shared<OpenCalls>();  // Of the store; shared with each.
  std::optional<PooledFilterReader> pool_;  // Last: its threads use the rest.
};

}  // namespace bloomring
