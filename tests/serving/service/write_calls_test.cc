// The calls that write to the log: RecordServed and Forget.
#include <catch2/catch.hpp>
#include <future>

#include "client/client.h"
#include "serving/server/grpc_server.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("record served: what is durable in the log is seen at once") {
  Served served;
  REQUIRE(served.record_served({"v1", "v2"}).ok());
  REQUIRE(served.log.appended.size() == 2);
  CHECK(served.log.appended[1].first == UserKey("", "u1"));
  CHECK(served.log.appended[1].second.kind == EventKind::kServe);
  CHECK(served.log.appended[1].second.item == item_hash("v2"));
  CHECK(served.world.seen("u1", "v1") == "served");
  served.world.happen(EventKind::kServe, "u1", "v1",
                      served.log.appended[0].second.time_ms);  // It comes back by the log.
  CHECK(served.partitions.held->served().stats().items == 2);
}

TEST_CASE("record served: what is not durable is not seen, and the call says so") {
  Served served;
  served.log.outcome = retry("the broker does not answer");
  const grpc::Status status = served.record_served({"v1"});
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message() == "the served items could not be recorded: the log does not answer now");
  CHECK(served.world.seen("u1", "v1") == "unseen");
}

TEST_CASE(
    "record served: a log that does not answer in time makes the call UNAVAILABLE, and what comes after all is seen") {
  Served served({.service = {.log_wait_ms = 1}});
  served.log.stalled = true;
  const grpc::Status status = served.record_served({"v1"});
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK_THAT(status.error_message(), Catch::Contains("not acknowledged it in time"));
  CHECK(served.world.seen("u1", "v1") == "unseen");
  served.log.acknowledge();
  CHECK(served.world.seen("u1", "v1") == "served");
}

TEST_CASE("record served: the caller's deadline bounds the wait for the log") {
  Served served({.service = {.log_wait_ms = 600'000}});
  served.log.stalled = true;
  grpc::ClientContext context;
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(2'000, GPR_TIMESPAN)));
  v1::RecordServedRequest request;
  request.set_user("u1");
  request.mutable_items()->add_text("v1");
  v1::RecordServedResponse response;
  const grpc::StatusCode code = served.stub->RecordServed(&context, request, &response).error_code();
  // The answer comes at nine tenths of the deadline; on a machine that sleeps for the last tenth the client gives up.
  CHECK((code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::DEADLINE_EXCEEDED));
  served.server->shutdown(0);
  served.log.acknowledge();  // Late: there is nobody to answer any more.
}

TEST_CASE("write calls: what the log acknowledges after the server's end holds, and needs nothing of the server") {
  Served served({.service = {.log_wait_ms = 1}});
  served.world.play("u1", "v1");
  served.log.stalled = true;
  CHECK(served.record_served({"v2"}).error_code() == grpc::StatusCode::UNAVAILABLE);
  const auto client = Client::connect(
      {.server = served.server->address(), .deadline_ms = 30'000, .retry = {.attempts_max = 1}});
  CHECK(client->forget("u1", "", "v1").code() == Code::kRetry);
  served.server.reset();
  served.log.acknowledge();
  CHECK(served.world.seen("u1", "v1") == "unseen");
  CHECK(served.world.seen("u1", "v2") == "served");
}

TEST_CASE("record served: the 101st serve makes the first one unseen again") {
  Served served;
  for (int i = 1; i <= 100; ++i) {
    served.world.clock.advance_ms(1);
    REQUIRE(served.record_served({"v" + std::to_string(i)}).ok());
  }
  CHECK(served.world.seen("u1", "v1") == "served");
  served.world.clock.advance_ms(1);
  REQUIRE(served.record_served({"v101"}).ok());
  CHECK(served.world.seen("u1", "v1") == "unseen");
  CHECK(served.world.seen("u1", "v2") == "served");
  CHECK(served.world.seen("u1", "v101") == "served");
}

TEST_CASE("record served: bad input is refused, and without a log the call is UNIMPLEMENTED") {
  Served served;
  CHECK(served.record_served({""}).error_message() == "items: an id is empty");
  CHECK(served.record_served(std::vector<std::string>(1'001, "v")).error_message() ==
        "items: 1001 ids, at most 1000 are allowed");
  Served without({}, false);
  CHECK(without.record_served({"v1"}).error_code() == grpc::StatusCode::UNIMPLEMENTED);
}

TEST_CASE("forget call: one item or everything is unseen at once, and in the log before the call returns") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  served.world.play("u1", "v1");
  served.world.play("u1", "v2");
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.world.seen("u1", "v1") == "unseen");
  CHECK(served.world.seen("u1", "v2") == "recent");
  REQUIRE(served.log.appended.size() == 1);
  CHECK(served.log.appended[0].first == UserKey("", "u1"));
  CHECK(served.log.appended[0].second.kind == EventKind::kForget);
  CHECK(served.log.appended[0].second.item == item_hash("v1"));
  REQUIRE(client->forget_everything("u1", "").ok());
  CHECK(served.world.seen("u1", "v2") == "unseen");
  CHECK(served.log.appended[1].second.kind == EventKind::kForgetAll);
  served.world.clock.advance_ms(1);
  served.world.play("u1", "v1");
  CHECK(served.world.seen("u1", "v1") == "recent");
}

TEST_CASE("forget call: it covers all that the replica knew, also what a clock ahead of its own has stamped") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  served.world.play_at("u1", "v1", served.world.clock.now_ms() + 500);
  served.world.play_at("u1", "v2", served.world.clock.now_ms() + 900);
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.log.appended[0].second.time_ms == served.world.clock.now_ms() + 500);
  CHECK(served.world.seen("u1", "v1") == "unseen");
  REQUIRE(client->forget_everything("u1", "").ok());
  CHECK(served.world.seen("u1", "v2") == "unseen");
}

TEST_CASE("forget call: one that is logged in a later hour than it happened is written again") {
  Served served;
  const auto client = Client::connect(
      {.server = served.server->address(), .deadline_ms = 30'000, .retry = {.attempts_max = 1}});
  served.world.play("u1", "v1");
  const int64_t next_hour_ms = kStartMs + kHourMs;
  served.log.log_times_ms = {next_hour_ms, kStartMs};
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.log.appended.size() == 2);
  CHECK(served.world.seen("u1", "v1") == "unseen");
  served.log.log_times_ms = {next_hour_ms + kHourMs, next_hour_ms + 2 * kHourMs, next_hour_ms + 3 * kHourMs};
  CHECK(client->forget("u1", "", "v1").code() == Code::kRetry);
  CHECK(served.log.appended.size() == 5);
}

TEST_CASE("forget call: a clock that is ahead does not make it take the plays that come after it") {
  for (const int64_t ahead_ms : {30'000L, 3 * kHourMs, 90 * kDayMs}) {
    Served served;
    const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
    served.world.play("u1", "v1");
    served.world.clock.set_wrong_by_ms(ahead_ms);
    CAPTURE(ahead_ms);
    REQUIRE(client->forget("u1", "", "v1").ok());
    CHECK(served.world.seen("u1", "v1") == "unseen");
    served.world.clock.advance_ms(5);
    served.world.play("u1", "v1");
    CHECK(served.world.seen("u1", "v1") == "recent");
    CHECK(served.log.appended.size() == 1);
  }
}

TEST_CASE("forget call: with a clock that is behind, or a log that was quiet, it reaches to now, and is no late one") {
  for (const int64_t behind_ms : {30'000L, 3 * kHourMs, 90 * kDayMs}) {
    Served served;
    const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
    served.world.play("u1", "v1");
    served.world.clock.set_wrong_by_ms(-behind_ms);
    served.world.clock.advance_ms(1'000);
    CAPTURE(behind_ms);
    REQUIRE(client->forget("u1", "", "v1").ok());
    CHECK(served.world.seen("u1", "v1") == "unseen");
    CHECK(served.log.appended.back().second.time_ms == served.world.log_now_ms());
  }
  Served quiet;  // Nothing is known of the log's time.
  const auto client = Client::connect({.server = quiet.server->address(), .deadline_ms = 30'000});
  quiet.world.clock.set_wrong_by_ms(90 * kDayMs);
  REQUIRE(client->forget_everything("u1", "").ok());
  CHECK(quiet.log.appended.size() == 2);
  CHECK(quiet.log.appended.back().second.time_ms == quiet.world.log_now_ms());
}

TEST_CASE("forget call: a log time that was far ahead once does not make it take the plays that come after it") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  served.world.play("u1", "v1");
  served.world.partition->log_time().saw(kStartMs + 40 * kDayMs, served.world.clock.steady_ns());
  served.world.clock.set_wrong_by_ms(-30'000);
  served.world.clock.advance_ms(1'000);
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.log.appended.size() == 2);
  CHECK(served.log.appended.back().second.time_ms == served.world.log_now_ms());
}

TEST_CASE("record served: it counts for its time, not for that of a clock that is wrong") {
  for (const int64_t days : {90, -90}) {
    Served served;
    served.world.play("u2", "v0");  // The log has a time.
    served.world.clock.set_wrong_by_ms(days * kDayMs);
    CAPTURE(days);
    REQUIRE(served.record_served({"v1"}).ok());
    const Event& event = served.log.appended[0].second;
    served.world.clock.set_wrong_by_ms(0);
    served.world.happen(EventKind::kServe, "u1", "v1", event.time_ms);
    CHECK(served.world.seen("u1", "v1") == "served");
    served.world.advance_hours(7);
    CHECK(served.world.seen("u1", "v1") == "unseen");
  }
}

TEST_CASE("record served: what is recorded after a forget counts, here and at other replicas, whatever clocks say") {
  for (const int64_t wrong_by_ms : {0L, 30'000L, -30'000L, 90 * kDayMs, -90 * kDayMs}) {
    Served served;
    const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
    served.world.play("u2", "v0");  // The log has a time.
    served.world.clock.set_wrong_by_ms(wrong_by_ms);
    CAPTURE(wrong_by_ms);
    REQUIRE(served.record_served({"v1"}).ok());
    REQUIRE(client->forget_everything("u1", "").ok());
    CHECK(served.world.seen("u1", "v1") == "unseen");
    served.world.clock.advance_ms(1);
    REQUIRE(served.record_served({"v1"}).ok());
    CHECK(served.world.seen("u1", "v1") == "served");
    ServingWorld other;  // Another replica reads both from the log.
    other.clock.advance_ms(1);
    for (const auto& [user, event] : served.log.appended) {
      if (event.kind == EventKind::kForgetAll) other.happen(event.kind, "u1", "", event.time_ms);
    }
    other.happen(EventKind::kServe, "u1", "v1", served.log.appended.back().second.time_ms);
    CHECK(other.seen("u1", "v1") == "served");
  }
}

TEST_CASE("forget call: what is not durable is not forgotten, and the call says so") {
  const auto forget = [](Served& served) {
    served.world.play("u1", "v1");
    const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
    return client->forget("u1", "", "v1");
  };
  Served refused;
  refused.log.outcome = retry("the broker does not answer");
  const Status status = forget(refused);
  CHECK(status.code() == Code::kRetry);
  CHECK(status.message() == "it could not be made forgotten: the log does not answer now");
  CHECK(refused.world.seen("u1", "v1") == "recent");
  Served late({.service = {.log_wait_ms = 1}});
  late.log.stalled = true;
  CHECK(forget(late).code() == Code::kRetry);
  CHECK(late.world.seen("u1", "v1") == "recent");
  late.log.acknowledge();
  CHECK(late.world.seen("u1", "v1") == "unseen");
}

TEST_CASE("forget call: bad input is refused, and without a log the call is UNIMPLEMENTED") {
  Served served;
  const auto refusal = [&](const std::function<void(v1::ForgetRequest&)>& change) {
    v1::ForgetRequest request;
    request.set_user("u1");
    change(request);
    grpc::ClientContext context;
    v1::ForgetResponse response;
    const grpc::Status status = served.stub->Forget(&context, request, &response);
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  CHECK(refusal([](v1::ForgetRequest&) {}) == "what: neither an item nor everything is named");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_everything(false); }) ==
        "everything: is false; name an item, or set it to true");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_item(""); }) == "item: an id is empty");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_item(std::string("a\0", 2)); }) ==
        "item: an id is not UTF-8 or contains NUL");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_user(""), r.set_item("v1"); }) == "user: an id is empty");
  CHECK(served.log.appended.empty());
  Served without({}, false);
  const auto client = Client::connect({.server = without.server->address(), .deadline_ms = 30'000});
  CHECK_THAT(client->forget("u1", "", "v1").message(), Catch::Contains("no log"));
}
