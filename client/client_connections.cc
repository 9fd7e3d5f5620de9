#include "client/client_connections.h"

#include <algorithm>
#include <random>

#include "client/channel.h"
#include "client/server_list.h"

namespace bloomring {

namespace {

// Ranks connection states by the chance that a call succeeds now; less is better.
int rank(grpc_connectivity_state state) {
  switch (state) {
    case GRPC_CHANNEL_READY: return 0;
    case GRPC_CHANNEL_IDLE:
    case GRPC_CHANNEL_CONNECTING: return 1;
    default: return 2;
  }
}

gpr_timespec after_ms(int64_t ms) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(ms, GPR_TIMESPAN));
}

// Doubles with each failed attempt, and takes a random half to whole of it, so that clients that failed together do
// not retry together.
int64_t pause_ms(const RetryOptions& retry, int failed_attempts) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const int doublings = std::min(failed_attempts - 1, 20);
  const int64_t whole_ms = std::min(retry.pause_max_ms, retry.pause_ms << doublings);
  return whole_ms - std::uniform_int_distribution<int64_t>(0, whole_ms / 2)(random);
}

}  // namespace

ClientConnections::ClientConnections(const ClientOptions& options) : retry_(options.retry) {
  for (const std::string& server : split_servers(options.server)) {
    auto channel = open_channel({.server = server, .tls = options.tls, .connection = options.connection});
    auto stub = v1::BloomringService::NewStub(channel);
    connections_.push_back({std::move(channel), std::move(stub)});
  }
}

size_t ClientConnections::choose(size_t turn, const std::vector<bool>& asked) const {
  const size_t count = connections_.size();
  size_t best = count;
  int best_rank = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t candidate = (turn + i) % count;
    const int its_rank = rank(connections_[candidate].channel->GetState(/*try_to_connect=*/true));
    if (asked[candidate] || (best != count && best_rank <= its_rank)) continue;
    best = candidate;
    best_rank = its_rank;
  }
  return best;
}

bool ClientConnections::pause(const Connection& connection, int attempt, gpr_timespec deadline) const {
  const gpr_timespec end = after_ms(pause_ms(retry_, attempt));
  if (gpr_time_cmp(end, deadline) >= 0) return false;
  connection.channel->WaitForStateChange(connection.channel->GetState(/*try_to_connect=*/true), end);
  return true;
}

grpc::Status ClientConnections::call(int64_t deadline_ms, const Ask& ask) {
  const gpr_timespec deadline = after_ms(deadline_ms);
  const size_t turn = turn_.fetch_add(1);
  std::vector<bool> asked(connections_.size());
  std::string said;
  for (int attempt = 1;; ++attempt) {
    const size_t chosen = choose(turn, asked);
    asked[chosen] = true;
    grpc::ClientContext context;
    context.set_deadline(deadline);
    grpc::Status status = ask(*connections_[chosen].stub, context);
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && !said.empty())
      return {status.error_code(), status.error_message() + "; the answer before: " + said};
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || attempt >= retry_.attempts_max) return status;
    said = status.error_message();
    if (!std::ranges::all_of(asked, std::identity())) continue;
    if (!pause(connections_[chosen], attempt, deadline)) return status;
    asked.assign(connections_.size(), false);
  }
}

}  // namespace bloomring
