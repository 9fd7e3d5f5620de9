#include "load/load_driver.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>

#include "client/channel.h"
#include "client/server_list.h"
#include "client/status_name.h"
#include "bloomring/v1/bloomring.grpc.pb.h"

namespace bloomring {

void LoadQuestion::clear() {
  user.clear();
  items.clear();
  lengths.clear();
  played.clear();
}

void LoadQuestion::add(std::string_view item, bool is_played) {
  if (is_played) played.push_back(static_cast<uint32_t>(lengths.size()));
  items.append(item);
  lengths.push_back(static_cast<char>(item.size()));
}

namespace {

// gRPC's callback owns a call in flight and frees it before the driver learns of its end. The call's context holds its
// channel, and gRPC's thread must not release the last reference to a channel, because the channel's end waits for
// that thread.
struct FilterCallState {
  grpc::ClientContext context;
  v1::FilterRequest request;
  v1::FilterResponse response;
  std::vector<uint32_t> played;
  v1::BloomringService::Stub* stub = nullptr;
  int64_t due_ns = 0;
  bool counts = false;
};

struct ServedCallState {
  grpc::ClientContext context;
  v1::RecordServedRequest request;
  v1::RecordServedResponse response;
  int64_t begin_ns = 0;
  bool counts = false;
};

void count_error(LoadCalls& calls, const grpc::Status& status) {
  const std::string code(status_name(status.error_code()));
  ++calls.errors[code];
  calls.reasons.emplace(code, status.error_message());
}

bool is_seen(const v1::FilterResponse& response, size_t candidate) {
  return (static_cast<uint8_t>(response.seen()[candidate / 8]) >> (candidate % 8)) & 1;
}

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, LoadSource& source, const LoadEnvironment& environment);
  LoadReport run();

 private:
  std::unique_ptr<FilterCallState> prepare(int64_t due_ns, bool counts);
  bool wait_until_due(int64_t due_ns);
  void send(std::unique_ptr<FilterCallState> call);
  void answered(std::unique_ptr<FilterCallState> call, const grpc::Status& status);
  void count_answer(const FilterCallState& call);
  void record_served(const FilterCallState& call);
  void served(std::unique_ptr<ServedCallState> call, const grpc::Status& status);
  void set_deadline(grpc::ClientContext& context) const;
  void end_call();

  const LoadOptions& options_;
  LoadSource& source_;
  const LoadEnvironment& environment_;
  std::vector<std::unique_ptr<v1::BloomringService::Stub>> stubs_;
  LoadQuestion question_;
  uint64_t made_ = 0;

  std::mutex mutex_;
  std::condition_variable ended_;
  LoadReport report_;
  int64_t in_flight_ = 0;
};

LoadRun::LoadRun(const LoadOptions& options, LoadSource& source, const LoadEnvironment& environment)
    : options_(options), source_(source), environment_(environment) {
  const std::vector<std::string> servers = split_servers(options.server);
  for (uint32_t i = 0; i < options.connections; ++i) {
    stubs_.push_back(v1::BloomringService::NewStub(
        open_channel({.server = servers[i % servers.size()], .tls = options.tls, .own_connection = true})));
  }
}

void LoadRun::set_deadline(grpc::ClientContext& context) const {
  const gpr_timespec wait = gpr_time_from_millis(options_.deadline_ms, GPR_TIMESPAN);
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), wait));
}

// Builds the call before it is due, so that the time to build it does not count as the service's.
std::unique_ptr<FilterCallState> LoadRun::prepare(int64_t due_ns, bool counts) {
  auto call = std::make_unique<FilterCallState>();
  source_.next(question_);
  call->due_ns = due_ns;
  call->counts = counts;
  call->stub = stubs_[made_++ % stubs_.size()].get();
  call->request.set_user(question_.user);
  call->request.set_scene(options_.scene);
  v1::PackedIds& packed = *call->request.mutable_candidates()->mutable_packed();
  packed.mutable_bytes()->swap(question_.items);
  packed.mutable_lengths()->swap(question_.lengths);
  call->played.swap(question_.played);
  return call;
}

bool LoadRun::wait_until_due(int64_t due_ns) {
  for (int64_t left_ns; (left_ns = due_ns - environment_.clock.steady_ns()) > 0;) {
    if (environment_.wait_or_stop(left_ns)) return false;
  }
  return !environment_.wait_or_stop(0);
}

void LoadRun::end_call() {
  --in_flight_;
  ended_.notify_all();
}

void LoadRun::send(std::unique_ptr<FilterCallState> call) {
  const int64_t late_ns = environment_.clock.steady_ns() - call->due_ns;
  {
    std::lock_guard lock(mutex_);
    if (in_flight_ >= options_.in_flight_max) {
      report_.not_sent += call->counts ? 1 : 0;
      return;
    }
    ++in_flight_;
    if (call->counts) report_.send_delay_max_ns = std::max(report_.send_delay_max_ns, static_cast<uint64_t>(late_ns));
  }
  set_deadline(call->context);
  FilterCallState* const state = call.release();
  state->stub->async()->Filter(
      &state->context, &state->request, &state->response,
      [this, state](const grpc::Status& status) { answered(std::unique_ptr<FilterCallState>(state), status); });
}

void LoadRun::count_answer(const FilterCallState& call) {
  const auto candidates = call.request.candidates().packed().lengths().size();
  report_.candidates += candidates;
  report_.seen += call.response.seen_count();
  report_.incomplete += call.response.complete() ? 0 : 1;
  if (!call.response.complete()) return;
  uint64_t played_seen = 0;
  for (const uint32_t candidate : call.played) played_seen += is_seen(call.response, candidate);
  report_.played += call.played.size();
  report_.played_unseen += call.played.size() - played_seen;
  report_.never_played += candidates - call.played.size();
  report_.never_played_seen += call.response.seen_count() - played_seen;
}

void LoadRun::answered(std::unique_ptr<FilterCallState> call, const grpc::Status& status) {
  const int64_t latency_ns = environment_.clock.steady_ns() - call->due_ns;
  const auto candidates = call->request.candidates().packed().lengths().size();
  const bool whole = status.ok() && call->response.seen().size() == (candidates + 7) / 8;
  if (whole) record_served(*call);
  std::lock_guard lock(mutex_);
  if (call->counts && whole) {
    report_.filter.latency_ns.record(static_cast<uint64_t>(latency_ns));
    count_answer(*call);
  } else if (call->counts && status.ok()) {
    ++report_.filter.errors["WRONG_LENGTH"];
  } else if (call->counts) {
    count_error(report_.filter, status);
  }
  call.reset();
  end_call();
}

// Records the first unseen candidates, as a recommender that ranks its candidates would show them.
void LoadRun::record_served(const FilterCallState& call) {
  auto served_call = std::make_unique<ServedCallState>();
  served_call->request.set_user(call.request.user());
  served_call->request.set_scene(call.request.scene());
  const v1::PackedIds& packed = call.request.candidates().packed();
  v1::PackedIds& items = *served_call->request.mutable_items()->mutable_packed();
  size_t begin = 0;
  for (size_t i = 0; i < packed.lengths().size() && items.lengths().size() < options_.served; ++i) {
    const auto length = static_cast<uint8_t>(packed.lengths()[i]);
    if (!is_seen(call.response, i)) {
      items.mutable_bytes()->append(packed.bytes(), begin, length);
      items.mutable_lengths()->push_back(packed.lengths()[i]);
    }
    begin += length;
  }
  {
    std::lock_guard lock(mutex_);
    if (items.lengths().empty() || !report_.served_offered) return;
    ++in_flight_;
  }
  served_call->begin_ns = environment_.clock.steady_ns();
  served_call->counts = call.counts;
  set_deadline(served_call->context);
  ServedCallState* const state = served_call.release();
  call.stub->async()->RecordServed(
      &state->context, &state->request, &state->response,
      [this, state](const grpc::Status& status) { served(std::unique_ptr<ServedCallState>(state), status); });
}

void LoadRun::served(std::unique_ptr<ServedCallState> call, const grpc::Status& status) {
  const int64_t latency_ns = environment_.clock.steady_ns() - call->begin_ns;
  std::lock_guard lock(mutex_);
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    report_.served_offered = false;
  } else if (call->counts && status.ok()) {
    report_.served.latency_ns.record(static_cast<uint64_t>(latency_ns));
  } else if (call->counts) {
    count_error(report_.served, status);
  }
  call.reset();
  end_call();
}

std::optional<double> per_call(std::optional<double> before, std::optional<double> after, uint64_t calls) {
  if (!before || !after || calls == 0) return std::nullopt;
  return (*after - *before) / static_cast<double>(calls);
}

LoadReport LoadRun::run() {
  const std::optional<double> service_cpu = environment_.service_cpu_seconds();
  const std::optional<double> own_cpu = environment_.own_cpu_seconds();
  std::mt19937_64 random(options_.seed);
  std::exponential_distribution<double> interval_seconds(options_.rate);
  const int64_t start_ns = environment_.clock.steady_ns();
  const double end_seconds = options_.warm_up_seconds + options_.seconds;
  double due_seconds = interval_seconds(random);
  for (; due_seconds < end_seconds; due_seconds += interval_seconds(random)) {
    const int64_t due_ns = start_ns + static_cast<int64_t>(due_seconds * 1e9);
    auto call = prepare(due_ns, due_seconds >= options_.warm_up_seconds);
    if (!wait_until_due(due_ns)) break;
    send(std::move(call));
  }
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return in_flight_ == 0; });  // Every call has a deadline.
  report_.seconds = std::max(0.0, std::min(due_seconds, end_seconds) - options_.warm_up_seconds);
  report_.own_cpu_seconds_per_call = per_call(own_cpu, environment_.own_cpu_seconds(), made_);
  report_.service_cpu_seconds_per_call = per_call(service_cpu, environment_.service_cpu_seconds(), made_);
  return std::move(report_);
}

}  // namespace

LoadReport run_load(const LoadOptions& options, LoadSource& source, const LoadEnvironment& environment) {
  return LoadRun(options, source, environment).run();
}

}  // namespace bloomring
