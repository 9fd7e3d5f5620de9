// The client library over services that do not answer at first, or at all.
#include "client/client.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>

#include "client/server_list.h"
#include "tests/serving/server/silent_server.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

constexpr int64_t kLongMs = 60'000;  // No call of these tests takes so long.
constexpr char kGone[] = "127.0.0.1:1";

FilterCall about(const std::string& user, std::vector<std::string> items = {"v1", "v2"}) {
  FilterCall call;
  call.user = user;
  call.items = std::move(items);
  return call;
}

// Holds the partition of the world, but not when it is asked the first `absent` times.
class AbsentAtFirst final : public PartitionDirectory {
 public:
  AbsentAtFirst(const ServingWorld& world, int absent) : held_(world.partition), absent_(absent) {}
  uint32_t partition_count() const override { return 1; }
  std::shared_ptr<ReplicaPartition> find(PartitionId) const override { return ++asked <= absent_ ? nullptr : held_; }
  std::vector<std::string> holders(PartitionId) const override { return {}; }

  mutable std::atomic<int> asked{0};

 private:
  const std::shared_ptr<ReplicaPartition> held_;
  const int absent_;
};

struct ServedLater {
  explicit ServedLater(int absent) : partitions(world, absent) {
    world.play("u1", "v1");
    server = GrpcServer::start({}, partitions, world.core, &log).value();
  }
  std::unique_ptr<Client> client(RetryOptions retry, bool fail_open = false) const {
    return Client::connect(
        {.server = server->address(), .deadline_ms = kLongMs, .fail_open = fail_open, .retry = retry});
  }
  ServingWorld world;
  AbsentAtFirst partitions;
  EventLogDouble log;
  std::unique_ptr<GrpcServer> server;
};

}  // namespace

TEST_CASE("client: a batch is answered for each user by itself, in order") {
  Served served;
  served.world.play("u1", "v1");
  served.world.play("u3", "v2");
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = kLongMs});
  const auto replies = client->filter_batch({about("u1"), about(""), about("u3", {"v1", "v2", "v3"})}).value();
  REQUIRE(replies.size() == 3);
  CHECK(replies[0]->items[0].seen);
  CHECK(replies[0]->items[0].reason == Reason::kRecent);
  CHECK_FALSE(replies[0]->items[1].seen);
  CHECK(replies[0]->complete);
  CHECK(replies[1].code() == Code::kBadRecord);
  CHECK(replies[1].status().message() == "user: an id is empty");
  CHECK(replies[2]->items.size() == 3);
  CHECK(replies[2]->items[1].seen);
  CHECK(client->filter_batch({}).value().empty());
}

TEST_CASE("client: a batch beyond the limits is refused as a whole, with the field and the limit") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = kLongMs});
  const auto refused = client->filter_batch(std::vector<FilterCall>(201, about("u1")));
  CHECK(refused.code() == Code::kBadRecord);
  CHECK(refused.status().message() == "requests: 201 requests, at most 200 are allowed; send them in several calls");
  CHECK(served.server->counters().requests == 1);
}

TEST_CASE("client: the users of a batch who were not answered are asked about again, and no others") {
  ServedLater served(1);
  const auto client = served.client({});
  const auto replies = client->filter_batch({about("u1"), about("u1"), about("u1")}).value();
  for (const auto& reply : replies) CHECK(reply.value().items[0].seen);
  CHECK(served.partitions.asked == 4);
}

TEST_CASE("client: a batch that nobody can answer fails open for each user, and fails for the strict ones") {
  const auto client = Client::connect({.server = kGone, .deadline_ms = kLongMs, .retry = {.pause_ms = 1}});
  std::vector<FilterCall> calls = {about("u1"), about("u2")};
  calls[1].strict = true;
  const auto replies = client->filter_batch(calls).value();
  CHECK_FALSE(replies[0]->items[0].seen);
  CHECK_FALSE(replies[0]->complete);
  CHECK(replies[0]->error.code() == Code::kRetry);
  CHECK(replies[1].code() == Code::kRetry);
}

TEST_CASE("client: what is UNAVAILABLE is asked again, as often as is allowed") {
  ServedLater served(2);
  const RetryOptions retry{.attempts_max = 3, .pause_ms = 1};
  CHECK(served.client(retry)->filter(about("u1")).value().items[0].seen);
  CHECK(served.partitions.asked == 3);
  ServedLater away(1'000);
  CHECK(away.client(retry)->filter(about("u1")).code() == Code::kRetry);
  CHECK(away.partitions.asked == 3);
  CHECK(away.client({.attempts_max = 1})->filter(about("u1")).code() == Code::kRetry);
  CHECK(away.partitions.asked == 4);
  CHECK(away.client(retry)->snapshot("u1", "").code() == Code::kRetry);
  CHECK(away.partitions.asked == 7);
  const FilterReply open = away.client(retry, true)->filter(about("u1")).value();
  CHECK(open.error.message() == "partition 0 is not held here");
}

TEST_CASE("client: what is refused for another reason is not asked again") {
  Served overloaded({.service = {.in_flight_max = 0}});
  const auto client =
      Client::connect({.server = overloaded.server->address(), .deadline_ms = kLongMs, .fail_open = false});
  CHECK(client->filter(about("u1")).code() == Code::kRetry);
  CHECK(overloaded.server->counters().requests == 1);
  Served served;
  const auto other = Client::connect({.server = served.server->address(), .deadline_ms = kLongMs});
  CHECK(other->filter(about("")).code() == Code::kBadRecord);
  CHECK(served.server->counters().requests == 1);
}

TEST_CASE("client: no pause reaches beyond the deadline; what the service said is told at once") {
  ServedLater away(1'000);
  const auto client = away.client({.attempts_max = 3, .pause_ms = 2 * kLongMs, .pause_max_ms = 2 * kLongMs});
  CHECK(client->filter(about("u1")).status().message() == "partition 0 is not held here");
  CHECK(away.partitions.asked == 1);
}

TEST_CASE("client: a call that its deadline ends tells what a server said before") {
  ServedLater away(1'000);
  const SilentServer silent;
  const auto client = Client::connect({.server = away.server->address() + "," + silent.address(),
                                       .deadline_ms = 1'000,
                                       .fail_open = false,
                                       .retry = {.attempts_max = 2}});
  CHECK_THAT(client->forget("u1", "", "v1").message(),
             Catch::EndsWith("; the answer before: partition 0 is not held here"));
  // A silent server alone has said nothing.
  const auto deaf = Client::connect({.server = silent.address(), .deadline_ms = 100, .fail_open = false});
  CHECK_THAT(deaf->forget("u1", "", "v1").message(), !Catch::Contains("the answer before"));
}

TEST_CASE("client: each call can have a deadline of its own, and calls that write have theirs") {
  Served served;
  const auto late = Client::connect({.server = served.server->address(), .deadline_ms = -1, .fail_open = false});
  CHECK(late->filter(about("u1")).code() == Code::kRetry);
  CHECK(late->filter(about("u1"), {.deadline_ms = kLongMs}).ok());
  CHECK(late->filter_batch({about("u1")}, {.deadline_ms = kLongMs}).value()[0].ok());
  CHECK(late->snapshot("u1", "", false, {.deadline_ms = kLongMs}).ok());
  CHECK(late->record_served("u1", "", {"v1"}).code() == Code::kRetry);
  CHECK(served.log.appended.empty());
  const auto writes = Client::connect(
      {.server = served.server->address(), .deadline_ms = -1, .fail_open = false, .write_deadline_ms = kLongMs});
  CHECK(writes->filter(about("u1")).code() == Code::kRetry);
  CHECK(writes->record_served("u1", "", {"v1"}).ok());
  CHECK(writes->forget("u1", "", "v1").ok());
  CHECK(writes->forget("u1", "", "v1", {.deadline_ms = -1}).code() == Code::kRetry);
}

TEST_CASE("client: a write that was not acknowledged is written again, which changes nothing") {
  Served served;
  served.world.play("u1", "v1");
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = kLongMs});
  served.log.unacknowledged = 1;
  REQUIRE(client->record_served("u1", "", {"v2", "v3"}).ok());
  CHECK(served.log.appended.size() == 4);
  CHECK(served.world.seen("u1", "v2") == "served");
  served.log.unacknowledged = 1;
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.log.appended.size() == 6);
  CHECK(served.world.seen("u1", "v1") == "unseen");
  served.world.clock.advance_ms(1);
  served.world.play("u1", "v1");
  CHECK(served.world.seen("u1", "v1") == "recent");
}

TEST_CASE("client: of several servers one that is gone or cannot answer is followed by the next one at once") {
  Served served;
  served.world.play("u1", "v1");
  ServedLater away(1'000);
  const RetryOptions retry{.attempts_max = 2, .pause_ms = 2 * kLongMs, .pause_max_ms = 2 * kLongMs};
  for (const std::string& other : {std::string(kGone), away.server->address()}) {
    const std::string servers = other + ", " + served.server->address();
    const auto client =
        Client::connect({.server = servers, .deadline_ms = kLongMs, .fail_open = false, .retry = retry});
    for (int i = 0; i < 10; ++i) CHECK(client->filter(about("u1")).value().items[0].seen);
  }
  CHECK(away.partitions.asked > 0);  // The servers take turns.
}

TEST_CASE("client: a server that has fallen silent is given up, and the next one answers") {
  Served served;
  served.world.play("u1", "v1");
  const SilentServer silent;
  const auto client = Client::connect({.server = silent.address() + "," + served.server->address(),
                                       .deadline_ms = 10 * kLongMs,
                                       .fail_open = false,
                                       .retry = {.attempts_max = 100},  // A slow moment of the other one is one, too.
                                       .connection = {.keepalive_ms = 50, .keepalive_timeout_ms = 50}});
  for (int i = 0; i < 4; ++i) CHECK(client->filter(about("u1")).value().items[0].seen);
  CHECK(silent.connections() > 0);
}

TEST_CASE("client: pings as often as the service allows keep a connection, more often end it") {
  Served allowing({.ping_interval_min_ms = 1, .service = {.store_wait_ms = kLongMs}});
  Served refusing({.service = {.store_wait_ms = kLongMs}});
  const auto client_of = [](const Served& served) {
    return Client::connect({.server = served.server->address(),
                            .deadline_ms = kLongMs,
                            .fail_open = false,
                            .retry = {.attempts_max = 1},
                            .connection = {.keepalive_ms = 10, .keepalive_timeout_ms = kLongMs}});
  };
  allowing.world.store.stall_reads(true);
  refusing.world.store.stall_reads(true);
  const auto kept = client_of(allowing);
  std::future<Result<FilterReply>> answer = std::async(std::launch::async, [&] { return kept->filter(about("u1")); });
  allowing.world.store.wait_for_read();
  for (int i = 0; i < 3; ++i) {
    CHECK(client_of(refusing)->filter(about("u1")).status().message().find("ping") != std::string::npos);
  }
  CHECK(answer.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  allowing.world.store.stall_reads(false);
  CHECK(answer.get().ok());
}

TEST_CASE("client: an answer larger than the connection takes fails the call") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(),
                                       .deadline_ms = kLongMs,
                                       .fail_open = false,
                                       .connection = {.answer_bytes_max = 10}});
  CHECK(client->filter(about("u1")).status().message().find("larger than max") != std::string::npos);
}

TEST_CASE("client: servers are listed with commas between them") {
  using List = std::vector<std::string>;
  CHECK(split_servers("a:1") == List{"a:1"});
  CHECK(split_servers("a:1,b:2") == List{"a:1", "b:2"});
  CHECK(split_servers(" a:1 , ,b:2,") == List{"a:1", "b:2"});
  CHECK(split_servers("") == List{""});
}
