#include "state/redis/redis_client.h"

#include <chrono>
#include <thread>
#include <utility>

#include "state/redis/redis_router.h"

namespace bloomring {

RedisClient::RedisClient(std::string name, RedisClientConfig config, RedisCounters& counters, RedisNetwork& network)
    : config_(std::move(config)), network_(network), loop_(network.make_loop()) {
  BLOOMRING_CHECK(!config_.addresses.empty(), "a client has an address to begin with");
  router_ = std::make_unique<RedisRouter>(config_, counters, in_flight_, network);
  loop_->run(std::move(name), [this] { return turn(); });
}

RedisClient::~RedisClient() { close(); }

void RedisClient::close() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stop_, true)) return;
  }
  loop_->wake();
  loop_->join();
}

template <typename Value>
Value RedisClient::await(std::future<Value>& promised) {
  network_.carry_on_until([&] { return promised.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  return promised.get();
}

bool RedisClient::begin(RedisRequest request) {
  auto routed = std::make_shared<RoutedRequest>(std::move(request));  // Shared: see SharedRequest.
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || in_flight_ >= config_.in_flight_max) return false;
    ++in_flight_;
    first = queue_.empty();
    queue_.push_back(std::move(routed));
  }
  if (first) loop_->wake();
  return true;
}

bool RedisClient::slots_may_move() const { return router_->slots_may_move(); }

RedisAnswer RedisClient::call(RedisRequest request) {
  std::vector<RedisRequest> one;
  one.push_back(std::move(request));
  return std::move(call_all(std::move(one)).front());
}

std::vector<RedisAnswer> RedisClient::call_all(std::vector<RedisRequest> requests) {
  std::vector<std::future<RedisAnswer>> answers;
  for (RedisRequest& request : requests) {
    auto promise = std::make_shared<std::promise<RedisAnswer>>();  // Shared: a std::function is copied.
    answers.push_back(promise->get_future());
    request.end = [promise](RedisAnswer answer) { promise->set_value(std::move(answer)); };
    // Full: the oldest of ours make room.
    for (size_t i = 0; !begin(request); ++i) {
      if (i + 1 < answers.size()) answers[i].wait();
      std::this_thread::yield();
    }
  }
  std::vector<RedisAnswer> taken;
  for (auto& answer : answers) taken.push_back(await(answer));
  return taken;
}

Result<std::vector<RedisAddress>> RedisClient::primaries() {
  using Primaries = Result<std::vector<RedisAddress>>;
  auto promise = std::make_shared<std::promise<Primaries>>();  // Shared: a std::function is copied.
  auto found = promise->get_future();
  begin_primaries([promise](Primaries primaries) { promise->set_value(std::move(primaries)); });
  return await(found);
}

void RedisClient::begin_primaries(std::function<void(Result<std::vector<RedisAddress>>)> ended) {
  begin_with_topology([this, ended](const Status& known) {
    if (!known.ok()) return ended(known);
    ended(router_->primaries());
  });
}

Result<std::vector<RedisAddress>> RedisClient::servers() {
  using Servers = Result<std::vector<RedisAddress>>;
  auto promise = std::make_shared<std::promise<Servers>>();  // Shared: a std::function is copied.
  auto found = promise->get_future();
  begin_with_topology([this, promise](const Status& known) {
    promise->set_value(known.ok() ? Servers(router_->servers()) : Servers(known));
  });
  return await(found);
}

// The client's thread owns the router.
void RedisClient::begin_with_topology(std::function<void(Status)> ended) {
  RedisRequest request;
  append_redis_command(request.commands, {"PING"});
  request.end = [ended](const RedisAnswer& answer) { ended(answer.status()); };
  if (!begin(std::move(request))) {
    ended(retry("too many requests to the " + std::string(config_.names.store) + " are under way"));
  }
}

bool RedisClient::take_new() {
  std::deque<SharedRequest> taken;
  bool stop = false;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(queue_);
    stop = stop_;
  }
  for (SharedRequest& request : taken) router_->submit(std::move(request));
  return !stop;
}

bool RedisClient::turn() {
  if (take_new()) {
    router_->step(*loop_);
    return true;
  }
  router_.reset();  // Ends what is under way.
  return false;
}

}  // namespace bloomring
