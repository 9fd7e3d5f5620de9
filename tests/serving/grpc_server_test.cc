#include "serving/grpc_server.h"

#include <catch2/catch.hpp>
#include <grpcpp/generic/generic_stub.h>

#include <array>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "serving/client.h"
#include "serving/query_command.h"
#include "serving/served_command.h"
#include "tests/serving/served_over_grpc.h"

using namespace bloomring;

namespace {

std::string run_query(Served& served, QueryOptions options, const std::string& input, int expected_code) {
  options.server = served.server->address();
  std::istringstream in(input);
  std::ostringstream out, err;
  CHECK(query(options, in, out, err) == expected_code);
  return out.str() + err.str();
}

}  // namespace

TEST_CASE("filter service: the bit set, the codes and the verdicts say the same") {
  Served served;
  served.world.play("u1", "v1");
  v1::FilterRequest request;
  request.set_user("u1");
  for (const char* id : {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v1"}) request.mutable_candidates()->add_text(id);
  request.set_explain(v1::EXPLAIN_CODES);
  v1::FilterResponse response;
  REQUIRE(served.filter(request, &response).ok());
  CHECK(response.seen() == std::string("\x02\x02", 2));
  CHECK(response.seen_count() == 2);
  CHECK(response.codes() == std::string("\0\3\0\0\0\0\0\0\0\3", 10));
  CHECK(response.complete());
  CHECK(response.user_known());
  CHECK(response.periods(0) == "2026-11");
  CHECK(response.periods_size() == 4);
  request.set_explain(v1::EXPLAIN_VERDICTS);
  REQUIRE(served.filter(request, &response).ok());
  REQUIRE(response.verdicts_size() == 2);
  CHECK(response.verdicts(1).candidate() == 9);
  CHECK(response.verdicts(1).reason() == v1::REASON_RECENT);
}

TEST_CASE("filter service: text, packed and integer ids ask about the same items") {
  Served served;
  served.world.play("u1", "-42");
  v1::FilterRequest request;
  request.set_user("u1");
  const int form = GENERATE(0, 1, 2);
  v1::Ids& ids = *request.mutable_candidates();
  if (form == 0) {
    ids.add_text("7");
    ids.add_text("-42");
  } else if (form == 1) {
    ids.add_integers(7);
    ids.add_integers(-42);
  } else {
    ids.mutable_packed()->set_bytes("7-42");
    ids.mutable_packed()->set_lengths("\x01\x03");
  }
  v1::FilterResponse response;
  REQUIRE(served.filter(request, &response).ok());
  CHECK(response.seen() == "\x02");
}

TEST_CASE("filter service: bad input is refused with the field and the limit") {
  Served served;
  const auto refused = [&](const std::function<void(v1::FilterRequest&)>& change) {
    const grpc::Status status = served.refusal(change);
    CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    return status.error_message();
  };
  using Request = v1::FilterRequest;
  CHECK(refused([](Request& r) { r.set_user(""); }) == "user: an id is empty");
  CHECK(refused([](Request& r) { r.set_user(std::string(129, 'u')); }) == "user: 129 bytes in an id, at most 128 are allowed");
  CHECK(refused([](Request& r) { r.set_user(std::string("a\0b", 3)); }) == "user: not UTF-8 or contains NUL");
  CHECK(refused([](Request& r) { r.set_scene(std::string(129, 's')); }) == "scene: 129 bytes, at most 128 are allowed");
  CHECK(refused([](Request& r) {
          for (int i = 0; i < 20'001; ++i) r.mutable_candidates()->add_integers(i);
        }) == "candidates: 20001 ids, at most 20000 are allowed");
  CHECK(refused([](Request& r) { r.mutable_candidates()->add_text(""); }) == "candidates: an id is empty");
  CHECK(refused([](Request& r) {
          r.mutable_candidates()->add_text("a");
          r.mutable_candidates()->add_integers(1);
        }) == "candidates: more than one of text, integers and packed is filled");
  const auto packed = [](const std::string& bytes, const std::string& lengths) {
    return [=](Request& r) {
      r.mutable_candidates()->mutable_packed()->set_bytes(bytes);
      r.mutable_candidates()->mutable_packed()->set_lengths(lengths);
    };
  };
  CHECK(refused(packed("ab", "\x03")) == "candidates.packed.lengths: the sum exceeds the bytes");
  CHECK(refused(packed("ab", "\x01")) == "candidates.packed.lengths: the sum falls short of the bytes");
  CHECK(refused(packed("ab", std::string("\0\x02", 2))) == "candidates: an id is empty");
  CHECK(refused(packed("\xff\xfe", "\x02")) == "candidates.packed.bytes: not UTF-8 or contains NUL");
  CHECK(refused(packed(std::string("a\0", 2), "\x02")) == "candidates.packed.bytes: not UTF-8 or contains NUL");
  CHECK(refused(packed(std::string(129, 'v'), "\x81")) == "candidates: 129 bytes in an id, at most 128 are allowed");
  CHECK(refused(packed(std::string(300, 'v') + "\xff", std::string("\x80\x80\x2d", 3))) ==
        "candidates.packed.bytes: not UTF-8 or contains NUL");
  CHECK(refused(packed("\xc3\xa4", "\x01\x01")) == "candidates.packed.lengths: an id begins inside a character");
  CHECK(refused([](Request& r) {
          r.mutable_candidates()->add_text("a");
          r.add_ids_per_candidate(2);
        }) == "ids_per_candidate: sums to 2, but there are 1 ids");
  CHECK(refused([](Request& r) { r.add_ids_per_candidate(0); }) == "ids_per_candidate: a candidate without an id");
  CHECK(served.server->counters().refused_invalid == 17);
}

TEST_CASE("filter service: a message over the limit is refused and the connection lives on") {
  Served served;
  const grpc::Status status = served.refusal([](v1::FilterRequest& request) {
    request.mutable_candidates()->mutable_packed()->set_bytes(std::string(64 << 20, 'x'));
  });
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
}

TEST_CASE("filter service: a partition that is not held or not ready is UNAVAILABLE and named") {
  Served served;
  served.partitions.held = nullptr;
  CHECK(served.refusal([](v1::FilterRequest&) {}).error_message() == "partition 0 is not held here");
  served.partitions.elsewhere = "bloomring-serve-2:50051";
  CHECK(served.refusal([](v1::FilterRequest&) {}).error_message() ==
        "partition 0 is not held here, but by bloomring-serve-2:50051");
  served.partitions.held = std::make_shared<HeldPartition>(kOnly, RecentPlaysConfig{}, utc_months(), Offset(0));
  const grpc::Status status = served.refusal([](v1::FilterRequest&) {});
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message() == "partition 0 is catching up");
}

TEST_CASE("filter service: strict turns an incomplete answer into an error that says why") {
  Served served;
  served.world.store.fail_reads(true);
  CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
  const grpc::Status status = served.refusal([](v1::FilterRequest& request) { request.set_strict(true); });
  CHECK(status.error_code() == grpc::StatusCode::FAILED_PRECONDITION);
  CHECK(status.error_message().find("connection refused") != std::string::npos);
}

TEST_CASE("query: prints the service's answer as the documented JSON") {
  Served served;
  served.world.play("u1", "v1");
  QueryOptions options;
  options.user = "u1";
  options.items = {"v1", "v2"};
  CHECK(run_query(served, options, "", 0) ==
        R"({"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"recent"},{"item":"v2","seen":false}]})" "\n");
  served.world.merge();
  served.world.advance_hours(7);
  served.world.release();
  options.items = {};
  CHECK(run_query(served, options, "v1\n", 0) ==
        R"({"user":"u1","complete":true,"items":[{"item":"v1","seen":true,"reason":"filter","period":"2026-11"}]})" "\n");
}

TEST_CASE("query: a batch answers each line and goes on after a bad one") {
  Served served;
  served.world.play("1", "2");
  QueryOptions options;
  options.batch = true;
  const std::string out = run_query(served, options, "{\"user\":1,\"items\":[2,\"x\"]}\nnonsense\n{\"user\":\"1\",\"items\":[\"\"]}\n", 1);
  CHECK(out ==
        R"({"user":"1","complete":true,"items":[{"item":"2","seen":true,"reason":"recent"},{"item":"x","seen":false}]})" "\n"
        R"({"line":2,"error":"the line must be {\"user\":..,\"items\":[..]}"})" "\n"
        R"({"line":3,"error":"candidates: an id is empty"})" "\n");
}

TEST_CASE("query: more items than one request holds are asked in several") {
  Served served;
  served.world.play("u1", "24999");
  QueryOptions options;
  options.user = "u1";
  std::string input;
  for (int i = 0; i < 25'000; ++i) input += std::to_string(i) + "\n";
  const auto json = nlohmann::json::parse(run_query(served, options, input, 0));
  REQUIRE(json["items"].size() == 25'000);
  CHECK(json["items"][24'999]["seen"] == true);
  CHECK(json["items"][24'998]["seen"] == false);
}

TEST_CASE("query: a server that is not there is exit code 1, a question that is refused 2") {
  QueryOptions options;
  options.server = "127.0.0.1:1";
  options.user = "u1";
  options.items = {"v1"};
  std::istringstream in;
  std::ostringstream out, err;
  CHECK(query(options, in, out, err) == 1);
  CHECK(out.str().empty());
  CHECK(err.str().starts_with("127.0.0.1:1: "));
  Served served;
  options.user = "";
  run_query(served, options, "", 2);
}

TEST_CASE("filter service: a stalled store does not hold up an answer; it says what is missing and is in time") {
  Served served({.service = {.store_wait_ms = 60'000}});
  served.world.play("u1", "v1");
  served.world.store.stall_reads(true);
  v1::FilterRequest request;
  request.set_user("u1");
  request.mutable_candidates()->add_text("v1");
  v1::FilterResponse response;
  grpc::ClientContext context;
  context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(1'000, GPR_TIMESPAN)));
  REQUIRE(served.stub->Filter(&context, request, &response).ok());
  CHECK(response.seen() == "\x01");
  REQUIRE(response.gaps_size() == 1);
  CHECK(response.gaps(0).reason() == "filter store: no answer in time");
  CHECK(served.server->counters().incomplete[static_cast<size_t>(AnswerSource::kFilters)] == 1);
  served.world.store.stall_reads(false);
}

TEST_CASE("filter service: without a deadline of its own, a call waits for the store as long as the service says") {
  Served served({.service = {.store_wait_ms = 1}});
  served.world.store.stall_reads(true);
  CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
  CHECK(served.refusal([](v1::FilterRequest& request) { request.set_strict(true); }).error_code() ==
        grpc::StatusCode::FAILED_PRECONDITION);
  served.world.store.stall_reads(false);
}

TEST_CASE("filter service: when reads pile up the oldest is refused, and none is lost") {
  Served served({.service = {.store_wait_ms = 60'000, .read_threads = 1, .reads_queued_max = 2}});
  served.world.store.stall_reads(true);
  constexpr int kCalls = 10;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<grpc::StatusCode, int> ended;
  v1::FilterRequest request;
  request.set_user("u1");
  std::array<grpc::ClientContext, kCalls> contexts;
  std::array<v1::FilterResponse, kCalls> responses;
  const auto call = [&](size_t i) {
    served.stub->async()->Filter(&contexts[i], &request, &responses[i], [&](grpc::Status status) {
      std::lock_guard lock(mutex);
      ++ended[status.error_code()];
      changed.notify_all();
    });
  };
  call(0);
  served.world.store.wait_for_read();  // The one thread is busy; the others queue behind it.
  for (size_t i = 1; i < kCalls; ++i) call(i);
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended[grpc::StatusCode::RESOURCE_EXHAUSTED] == kCalls - 3; });
  served.world.store.stall_reads(false);
  changed.wait(lock, [&] { return ended[grpc::StatusCode::OK] == 3; });
}

TEST_CASE("filter service: more calls than may be in flight are refused at once") {
  Served served({.service = {.in_flight_max = 0}});
  const grpc::Status status = served.refusal([](v1::FilterRequest&) {});
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(status.error_message() == "0 calls are in flight already");
}

TEST_CASE("filter service: a deadline in the past is DEADLINE_EXCEEDED") {
  Served served;
  grpc::ClientContext context;
  context.set_deadline(gpr_time_0(GPR_CLOCK_REALTIME));
  v1::FilterRequest request;
  request.set_user("u1");
  v1::FilterResponse response;
  CHECK(served.stub->Filter(&context, request, &response).error_code() == grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_CASE("record served: what is durable in the log is seen at once") {
  Served served;
  REQUIRE(served.record_served({"v1", "v2"}).ok());
  REQUIRE(served.log.appended.size() == 2);
  CHECK(served.log.appended[1].first == UserKey("", "u1"));
  CHECK(served.log.appended[1].second.kind == EventKind::kServe);
  CHECK(served.log.appended[1].second.item == item_hash("v2"));
  CHECK(served.world.seen("u1", "v1") == "served");
  served.world.happen(EventKind::kServe, "u1", "v1", served.log.appended[0].second.time_ms);  // It comes back by the log.
  CHECK(served.partitions.held->served().stats().items == 2);
}

TEST_CASE("record served: what is not durable is not seen, and the call says so") {
  Served served;
  served.log.outcome = retry("the broker does not answer");
  const grpc::Status status = served.record_served({"v1"});
  CHECK(status.error_code() == grpc::StatusCode::UNAVAILABLE);
  CHECK(status.error_message() == "the served items could not be recorded: the broker does not answer");
  CHECK(served.world.seen("u1", "v1") == "unseen");
}

TEST_CASE("record served: a log that does not answer in time makes the call UNAVAILABLE, and what comes after all is seen") {
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

TEST_CASE("served command: records what it is given, in calls of a thousand, and says how much") {
  Served served;
  std::istringstream none;
  std::ostringstream out, err;
  ServedOptions options{.server = served.server->address(), .user = "u1", .scene = "feed"};
  for (int i = 0; i < 2'001; ++i) options.items.push_back("v" + std::to_string(i));
  CHECK(bloomring::served(options, none, out, err) == 0);
  CHECK(out.str() == "{\"user\":\"u1\",\"scene\":\"feed\",\"recorded\":2001}\n");
  REQUIRE(served.log.appended.size() == 2'001);
  CHECK(served.log.appended.back().first == UserKey("feed", "u1"));
  CHECK(served.log.appended.back().second.item == item_hash("v2000"));
}

TEST_CASE("served command: items come from the input, and each kind of failure has its exit code") {
  Served served;
  std::ostringstream out, err;
  ServedOptions options{.server = served.server->address(), .user = "u1"};
  std::istringstream two("v1\n\nv2\n");
  CHECK(bloomring::served(options, two, out, err) == 0);
  CHECK(out.str() == "{\"user\":\"u1\",\"recorded\":2}\n");
  served.log.outcome = retry("the broker does not answer");
  std::istringstream one("v1\n");
  CHECK(bloomring::served(options, one, out, err) == 1);
  CHECK_THAT(err.str(), Catch::Contains("the broker does not answer"));
  options.user.clear();
  std::istringstream again("v1\n");
  CHECK(bloomring::served(options, again, out, err) == 2);
}

TEST_CASE("record served: bad input is refused, and without a log the call is UNIMPLEMENTED") {
  Served served;
  CHECK(served.record_served({""}).error_message() == "items: an id is empty");
  CHECK(served.record_served(std::vector<std::string>(1'001, "v")).error_message() == "items: 1001 ids, at most 1000 are allowed");
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
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  served.world.play("u1", "v1");
  const int64_t next_hour_ms = kStartMs + kHourMs;
  served.log.log_times_ms = {next_hour_ms, kStartMs};
  REQUIRE(client->forget("u1", "", "v1").ok());
  CHECK(served.log.appended.size() == 2);
  CHECK(served.world.seen("u1", "v1") == "unseen");
  served.log.log_times_ms = {next_hour_ms, next_hour_ms, next_hour_ms};
  CHECK(client->forget("u1", "", "v1").code() == Code::kRetry);
  CHECK(served.log.appended.size() == 5);
}

TEST_CASE("forget call: what is not durable is not forgotten, and the call says so") {
  Served served({.service = {.log_wait_ms = 1}});
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000});
  served.world.play("u1", "v1");
  served.log.outcome = retry("the broker does not answer");
  const Status status = client->forget("u1", "", "v1");
  CHECK(status.code() == Code::kRetry);
  CHECK(status.message() == "it could not be made forgotten: the broker does not answer");
  CHECK(served.world.seen("u1", "v1") == "recent");
  served.log.outcome = {};
  served.log.stalled = true;
  CHECK(client->forget("u1", "", "v1").code() == Code::kRetry);
  CHECK(served.world.seen("u1", "v1") == "recent");
  served.log.acknowledge();
  CHECK(served.world.seen("u1", "v1") == "unseen");
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
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_everything(false); }) == "everything: is false; name an item, or set it to true");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_item(""); }) == "item: an id is empty");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_item(std::string("a\0", 2)); }) == "item: an id is not UTF-8 or contains NUL");
  CHECK(refusal([](v1::ForgetRequest& r) { r.set_user(""), r.set_item("v1"); }) == "user: an id is empty");
  CHECK(served.log.appended.empty());
  Served without({}, false);
  const auto client = Client::connect({.server = without.server->address(), .deadline_ms = 30'000});
  CHECK_THAT(client->forget("u1", "", "v1").message(), Catch::Contains("no log"));
}

TEST_CASE("filter batch: each request is answered by itself, a bad one does not fail the others") {
  Served served;
  served.world.play("u1", "v1");
  v1::FilterBatchRequest batch;
  for (const char* user : {"u1", "", "u2"}) {
    v1::FilterRequest& request = *batch.add_requests();
    request.set_user(user);
    request.mutable_candidates()->add_text("v1");
  }
  grpc::ClientContext context;
  v1::FilterBatchResponse response;
  REQUIRE(served.stub->FilterBatch(&context, batch, &response).ok());
  REQUIRE(response.outcomes_size() == 3);
  CHECK(response.outcomes(0).response().seen() == "\x01");
  CHECK(response.outcomes(1).code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(response.outcomes(1).message() == "user: an id is empty");
  CHECK_FALSE(response.outcomes(1).has_response());
  CHECK(response.outcomes(2).response().seen() == std::string(1, '\0'));
}

TEST_CASE("filter batch: limits of requests and of candidates in all") {
  Served served;
  const auto refusal = [&](int requests, int candidates) {
    v1::FilterBatchRequest batch;
    for (int i = 0; i < requests; ++i) {
      v1::FilterRequest& request = *batch.add_requests();
      request.set_user("u1");
      for (int c = 0; c < candidates; ++c) request.mutable_candidates()->add_integers(c);
    }
    grpc::ClientContext context;
    v1::FilterBatchResponse response;
    return served.stub->FilterBatch(&context, batch, &response).error_message();
  };
  CHECK(refusal(0, 0).empty());
  CHECK(refusal(200, 100).empty());
  CHECK(refusal(201, 0) == "requests: 201 requests, at most 200 are allowed");
  CHECK(refusal(3, 7'000) == "requests: 21000 ids in all, at most 20000 are allowed");
}

TEST_CASE("grpc server: health says whether it serves, for the server and for the service") {
  Served served;
  const auto health = [&](const std::string& service) {
    grpc::ClientContext context;
    // grpc.health.v1.HealthCheckRequest { string service = 1; }, answered by { ServingStatus status = 1; }.
    const std::string request = service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service;
    grpc::GenericStub stub(served.channel);
    const grpc::Slice slice(request);
    const grpc::ByteBuffer in(&slice, 1);
    grpc::ByteBuffer out;
    std::promise<grpc::Status> ended;
    stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &in, &out, [&](grpc::Status status) { ended.set_value(status); });
    REQUIRE(ended.get_future().get().ok());
    std::vector<grpc::Slice> slices;
    REQUIRE(out.Dump(&slices).ok());
    return std::string(reinterpret_cast<const char*>(slices[0].begin()), slices[0].size());
  };
  CHECK(health("") == "\x08\x01");
  CHECK(health("bloomring.v1.BloomringService") == "\x08\x01");
  served.server->set_serving(false);
  CHECK(health("") == "\x08\x02");
}

TEST_CASE("grpc server: a port that is taken is refused with a sentence") {
  Served served;
  const auto second = GrpcServer::start({.listen = served.server->address()}, served.partitions, served.world.core);
  REQUIRE(second.code() == Code::kInvalid);
  CHECK(second.status().message() == "gRPC cannot listen on " + served.server->address() + ": is the port taken?");
}
