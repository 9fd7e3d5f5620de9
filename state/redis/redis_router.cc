#include "state/redis/redis_router.h"

#include <algorithm>

namespace bloomring {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kAgainFirstNs = 5 * kMs;
constexpr int64_t kAgainMostNs = 500 * kMs;
constexpr int64_t kReconnectFirstNs = 20 * kMs;
constexpr int64_t kReconnectMostNs = 2'000 * kMs;
constexpr int64_t kTopologyIntervalNs = 50 * kMs;  // Between two questions while something is wrong.
constexpr uint32_t kRedirectsMax = 16;        // Of one request.
constexpr int kIdleMs = 1'000;

int64_t doubled(int64_t first, uint32_t times, int64_t most) {
  return std::min(most, first << std::min<uint32_t>(times, 20));
}

}  // namespace

RedisRouter::RedisRouter(const RedisClientConfig& config, RedisCounters& counters, std::atomic<size_t>& in_flight,
                         RedisNetwork& network)
    : config_(config),
      counters_(counters),
      in_flight_(in_flight),
      network_(network),
      now_ns_(network.clock().steady_ns()),
      discovery_(config, *this) {}

RedisRouter::~RedisRouter() {
  const std::multimap<int64_t, SharedRequest> left = std::move(deadlines_);
  for (const auto& [deadline, request] : left)
    end(request, retry("the " + std::string(config_.names.store) + " on " + addresses() +
                       " is being closed: its answer is not known; ask again after the next start"));
}

void RedisRouter::submit(SharedRequest request) {
  ++counters_.requests;
  request->begun_ns = now_ns_ = network_.clock().steady_ns();
  const int64_t timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : config_.timeout_ms;
  request->deadline_ns = now_ns_ + timeout_ms * kMs;
  deadlines_.emplace(request->deadline_ns, request);
  if (request->late) lates_.emplace(now_ns_ + request->late_ms * kMs, request);
  dispatch(request);
}

void RedisRouter::dispatch(const SharedRequest& request) {
  if (request->ended) return;
  if (request->server) return send_to(*request->server, false, request, false);
  if (topology_.empty()) {
    want_topology();
    return delay(request, now_ns_ + kAgainFirstNs);
  }
  const RedisSlotRange* const range = topology_.find(request->slot);
  if (range == nullptr) {
    problem_ = topology_from_.text() + ": no server has slot " + std::to_string(request->slot) +
               "; bring its primary back, or assign it (redis-cli --cluster fix)";
    want_topology();
    return hold_again(request);
  }
  if (request->to_replica && !range->replicas.empty())
    return send_to(range->replicas[turn_++ % range->replicas.size()], true, request, false);
  send_to(range->primary, false, request, false);
}

void RedisRouter::send_to(const RedisAddress& server, bool to_replica, const SharedRequest& request, bool asking) {
  const NodeKey key{server, to_replica};
  Node& node = nodes_[key];
  request->asked = server;
  if (request->binding && request->binding->connection != 0) {
    request->binding->broken = !node.connection || node.connection->number() != request->binding->connection;
    if (request->binding->broken) return end(request, retry(server.text() + ": the connection broke meanwhile"));
  }
  if (!node.connection && now_ns_ < node.not_before_ns) {
    if (request->fail_fast || request->internal) return end(request, retry(node.problem));
    want_topology();
    return delay(request, std::min(node.not_before_ns, now_ns_ + kAgainMostNs));
  }
  if (!node.connection) {
    auto opened = RedisConnection::open(network_, server, config_.login, config_.names, to_replica, ++connections_,
                                        now_ns_);
    if (!opened.ok()) {
      break_node(key, opened.status());
      if (request->fail_fast || request->internal) return end(request, retry(nodes_[key].problem));
      return hold_again(request);
    }
    ++counters_.connects;
    node.connection = std::move(*opened);
    node.sent = node.received = 0;
  }
  if (request->binding) request->binding->connection = node.connection->number();
  node.connection->send(request, asking);
}

void RedisRouter::hold_again(const SharedRequest& request) {
  ++counters_.tried_again;
  delay(request, now_ns_ + doubled(kAgainFirstNs, request->attempts++, kAgainMostNs));
}

void RedisRouter::end(const SharedRequest& request, RedisAnswer answer) {
  if (request->ended) return;
  request->ended = true;
  if (!answer.ok()) ++counters_.failed;
  if (answer.ok() && !request->internal)
    counters_.nanoseconds += static_cast<uint64_t>(std::max<int64_t>(0, now_ns_ - request->begun_ns));
  if (!request->internal) --in_flight_;
  request->commands = {};
  request->late = nullptr;
  const auto ended = std::exchange(request->end, nullptr);
  if (ended) ended(std::move(answer));
}

void RedisRouter::take_answer(const SharedRequest& request, const RedisAddress& from) {
  if (request->ended) return;
  const auto error = std::ranges::find_if(request->got, &RedisReply::error);
  if (error == request->got.end() || request->internal) return end(request, std::move(request->got));
  const RedisReply reply = *error;
  for (RedisReply& one : request->got)
    if (one.error()) one.note_server(from.text());
  switch (redis_error(reply.bytes)) {
    case RedisError::kMoved: return follow(request, reply, false, from);
    case RedisError::kAsk: return follow(request, reply, true, from);
    case RedisError::kReadOnly:
    case RedisError::kAgain:
      problem_ = from.text() + ": " + reply.bytes;
      want_topology();
      return hold_again(request);
    default: return end(request, std::move(request->got));
  }
}

void RedisRouter::follow(const SharedRequest& request, const RedisReply& error, bool asking, const RedisAddress& from) {
  ++counters_.redirects;
  problem_ = from.text() + ": " + error.bytes;
  const auto redirect = parse_redirect(error.bytes, from);
  if (!redirect.ok() || request->attempts >= kRedirectsMax) {
    want_topology();
    return hold_again(request);
  }
  ++request->attempts;
  if (!asking) {
    topology_.move(redirect->slot, redirect->to);
    want_topology();
  }
  send_to(redirect->to, false, request, asking);
}

void RedisRouter::break_node(const NodeKey& key, const Status& why) {
  Node& node = nodes_[key];
  std::vector<SharedRequest> unanswered;
  if (node.connection) {
    count_bytes(node);
    unanswered = node.connection->take_in_flight();
    node.connection.reset();
  }
  ++counters_.breaks;
  problem_ = why.message();
  const Status told = why.code() == Code::kInvalid ? why : retry(why.message() + see_server());
  node.problem = told.message();
  if (why.code() == Code::kInvalid && topology_.empty()) refusal_ = why;
  node.not_before_ns = now_ns_ + doubled(kReconnectFirstNs, node.failures++, kReconnectMostNs);
  want_topology();
  for (const SharedRequest& request : unanswered) {
    if (request->internal || request->fail_fast)
      end(request, told);
    else
      hold_again(request);
  }
}

void RedisRouter::count_bytes(Node& node) {
  const uint64_t sent = node.connection->bytes_sent(), received = node.connection->bytes_received();
  counters_.bytes_sent += sent - std::exchange(node.sent, sent);
  counters_.bytes_received += received - std::exchange(node.received, received);
}

void RedisRouter::advance(const NodeKey& key, const RedisReadiness& ready) {
  const auto found = nodes_.find(key);
  if (found == nodes_.end() || !found->second.connection) return;
  Node& node = found->second;
  std::vector<SharedRequest> answered;
  const Status status = node.connection->advance(ready, now_ns_, answered);
  count_bytes(node);
  if (!answered.empty()) node.failures = 0;
  // A broken connection first, so that what follows does not use it.
  if (!status.ok()) break_node(key, status);
  for (const SharedRequest& request : answered) take_answer(request, key.first);
}

void RedisRouter::run_due() {
  while (!delayed_.empty() && delayed_.begin()->first <= now_ns_) {
    const SharedRequest request = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    dispatch(request);
  }
  while (!lates_.empty() && (lates_.begin()->first <= now_ns_ || lates_.begin()->second->ended)) {
    const SharedRequest request = lates_.begin()->second;
    lates_.erase(lates_.begin());
    if (!request->ended) request->late();
  }
  while (!deadlines_.empty() && (deadlines_.begin()->first <= now_ns_ || deadlines_.begin()->second->ended)) {
    const SharedRequest request = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    if (request->ended) continue;
    const int64_t waited_ms = (now_ns_ - request->begun_ns) / kMs;
    const std::string late =
        (request->asked.port == 0 ? "a server of " + addresses() : request->asked.text()) +
        ": the " + std::string(config_.names.store) + " did not answer within " + std::to_string(waited_ms) + " ms";
    if (request->internal) problem_ = late;
    const bool more = !problem_.empty() && !request->internal;
    end(request, retry(late + see_server() + (more ? "; last problem: " + problem_ : "")));
  }
}

// A server that takes questions and says nothing is as good as away. So is one that answers questions which nobody
// waits for any more: everything behind them would be late as well, and there would be ever more of it.
void RedisRouter::drop_slow() {
  const int64_t timeout_ns = config_.timeout_ms * kMs;
  std::vector<std::pair<NodeKey, std::string>> slow;
  for (auto& [key, node] : nodes_) {
    if (!node.connection) continue;
    const auto silent_since_ns = node.connection->silent_since_ns();
    const auto deadline_ns = node.connection->oldest_deadline_ns();
    if (silent_since_ns && now_ns_ - *silent_since_ns > 2 * timeout_ns)
      slow.emplace_back(key, ": the server does not answer");
    else if (deadline_ns && now_ns_ - *deadline_ns > timeout_ns)
      slow.emplace_back(key, ": the server answers too late to all that it is asked");
  }
  for (const auto& [key, finding] : slow) break_node(key, retry(key.first.text() + finding));
}

int RedisRouter::poll_timeout_ms() const {
  int64_t due_ns = now_ns_ + kIdleMs * kMs;
  if (!delayed_.empty()) due_ns = std::min(due_ns, delayed_.begin()->first);
  if (!lates_.empty()) due_ns = std::min(due_ns, lates_.begin()->first);
  if (!deadlines_.empty()) due_ns = std::min(due_ns, deadlines_.begin()->first);
  if (!asking_) due_ns = std::min(due_ns, topology_wanted_ ? topology_due_ns_ : topology_stale_ns_);
  return static_cast<int>(std::clamp<int64_t>((due_ns - now_ns_ + kMs - 1) / kMs, 0, kIdleMs));
}

void RedisRouter::step(RedisLoop& loop) {
  std::vector<RedisReadiness> streams;
  std::vector<NodeKey> keys;
  for (const auto& [key, node] : nodes_) {
    if (!node.connection) continue;
    streams.push_back(node.connection->waits_for());
    keys.push_back(key);
  }
  loop.wait(streams, poll_timeout_ms());
  now_ns_ = network_.clock().steady_ns();
  for (size_t i = 0; i < keys.size(); ++i)
    if (streams[i].ready()) advance(keys[i], streams[i]);
  drop_slow();
  run_due();
  refresh_if_due();
}

std::vector<RedisAddress> RedisRouter::primaries() const {
  const std::set<RedisAddress> all = topology_.primaries();
  return {all.begin(), all.end()};
}

std::vector<RedisAddress> RedisRouter::servers() const {
  const std::set<RedisAddress> all = topology_.servers();
  return {all.begin(), all.end()};
}

void RedisRouter::refresh_if_due() {
  if (asking_) return;
  const bool due = (topology_wanted_ && now_ns_ >= topology_due_ns_) || now_ns_ >= topology_stale_ns_;
  if (!due) return;
  topology_wanted_ = false;
  asking_ = true;
  refusal_ = {};
  std::vector<RedisAddress> servers = config_.addresses;
  for (const RedisAddress& server : topology_.servers())
    if (std::ranges::find(servers, server) == servers.end()) servers.push_back(server);
  // Not always the same server first: it may be cut off from the others.
  const auto first = servers.begin() + static_cast<std::ptrdiff_t>(turn_++ % servers.size());
  std::rotate(servers.begin(), first, servers.end());
  discovery_.begin(std::move(servers));
}

void RedisRouter::ask(const RedisAddress& server, std::initializer_list<std::string_view> words,
                      std::function<void(RedisAnswer)> ended) {
  auto request = std::make_shared<RoutedRequest>(RedisRequest{});  // Shared as every request is.
  append_redis_command(request->commands, words);
  request->server = server;
  request->internal = true;
  request->end = std::move(ended);
  request->begun_ns = now_ns_;
  request->deadline_ns = now_ns_ + config_.timeout_ms * kMs;
  deadlines_.emplace(request->deadline_ns, request);
  dispatch(request);
}

void RedisRouter::found(const RedisAddress& from, RedisTopology topology) {
  topology_ = std::move(topology);
  cluster_seen_ = cluster_seen_ || topology_.cluster();
  slots_may_move_ = cluster_seen_;
  topology_from_ = from;
  asking_ = false;
  topology_due_ns_ = now_ns_ + kTopologyIntervalNs;
  topology_stale_ns_ = now_ns_ + config_.topology_interval_ms * kMs;
  // Servers that are gone need no connection.
  const std::set<RedisAddress> servers = topology_.servers();
  std::erase_if(nodes_, [&](const auto& entry) {
    return !entry.second.connection && entry.second.not_before_ns <= now_ns_ && !servers.contains(entry.first.first);
  });
  std::multimap<int64_t, SharedRequest> delayed = std::move(delayed_);
  delayed_.clear();
  for (const auto& [due, request] : delayed) dispatch(request);
}

// A server that is left alone for a time gives no new problem.
std::string RedisRouter::with_problem(const std::string& finding, const std::string& way_out) const {
  if (problem_.starts_with(finding)) return problem_;
  return finding + " (" + addresses() + "); " + way_out + (problem_.empty() ? "" : "; last problem: " + problem_);
}

std::string RedisRouter::see_server() const {
  return "; see that it runs, is not overloaded, and can be reached from here (" + config_.names.key("timeout_ms") +
         ")";
}

std::string RedisRouter::addresses() const {
  return joined_addresses(config_.addresses);
}

void RedisRouter::not_found(const std::string& finding, const std::string& way_out) {
  asking_ = false;
  topology_wanted_ = true;
  topology_due_ns_ = now_ns_ + 2 * kTopologyIntervalNs;
  topology_stale_ns_ = now_ns_ + config_.topology_interval_ms * kMs;
  problem_ = with_problem(finding, way_out);
  if (refusal_.ok() || !topology_.empty()) return;
  const std::multimap<int64_t, SharedRequest> delayed = std::move(delayed_);
  delayed_.clear();
  for (const auto& [due, request] : delayed) end(request, refusal_);
}

}  // namespace bloomring
