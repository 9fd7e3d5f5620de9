#include "serving/service/filter_service.h"

#include <array>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "client/client.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("filter service: the bit set, the codes and the verdicts say the same") {
  Served served;
  served.world.play("u1", "v1");
  v1::FilterRequest request;
  request.set_user("u1");
  for (const char* id : {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v1"})
    request.mutable_candidates()->add_text(id);
  request.set_explain(v1::EXPLAIN_LEVEL_CODES);
  v1::FilterResponse response;
  REQUIRE(served.filter(request, &response).ok());
  CHECK(response.seen() == std::string("\x02\x02", 2));
  CHECK(response.seen_count() == 2);
  CHECK(response.codes() == std::string("\0\3\0\0\0\0\0\0\0\3", 10));
  CHECK(response.complete());
  CHECK(response.user_known());
  CHECK(response.periods(0) == "2026-11");
  CHECK(response.periods_size() == 4);
  request.set_explain(v1::EXPLAIN_LEVEL_VERDICTS);
  REQUIRE(served.filter(request, &response).ok());
  REQUIRE(response.verdicts_size() == 2);
  CHECK(response.verdicts(1).candidate() == 9);
  CHECK(response.verdicts(1).reason() == v1::SEEN_REASON_RECENT);
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
  CHECK(refused([](Request& r) { r.set_user(std::string(129, 'u')); }) ==
        "user: 129 bytes in an id, at most 128 are allowed");
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

TEST_CASE("filter service: a partition that is not held or not ready is UNAVAILABLE and named") {
  Served served;
  served.partitions.held = nullptr;
  CHECK(served.refusal([](v1::FilterRequest&) {}).error_message() == "partition 0 is not held here");
  served.partitions.held = std::make_shared<ReplicaPartition>(kOnly, RecentPlaysConfig{}, utc_months(), Offset(0));
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
  CHECK(status.error_message() == "incomplete; filters: filter store does not answer now");
}

TEST_CASE("filter service: a stalled store does not hold up an answer; it says what is missing and is in time") {
  std::optional<Served> served;  // Another one for each attempt.
  v1::FilterRequest request;
  request.set_user("u1");
  request.mutable_candidates()->add_text("v1");
  v1::FilterResponse response;
  const grpc::Status status = ask_in_time([&](grpc::ClientContext& context) {
    served.emplace(GrpcServerConfig{.service = {.store_wait_ms = 600'000}});
    served->world.play("u1", "v1");
    served->world.store.stall_reads(true);
    return served->stub->Filter(&context, request, &response);
  });
  REQUIRE(status.error_message() == "");
  CHECK(response.seen() == "\x01");
  REQUIRE(response.gaps_size() == 1);
  CHECK(response.gaps(0).reason() == "filter store: no answer in time");
  CHECK(served->server->counters().incomplete[static_cast<size_t>(AnswerSource::kFilters)] == 1);
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
  Served served({.service = {.store_wait_ms = 60'000, .read_pool = FilterReadPool{.threads = 1, .queued_max = 2}}});
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
  CHECK_THAT(status.error_message(), Catch::StartsWith("0 of at most 0 users are being answered already; ask again"));
}

TEST_CASE("filter service: a batch takes as many places as it has users, and gives all of them back") {
  constexpr int kPlaces = 5;
  Served served({.service = {.limits = {.batch_max = kPlaces},
                             .in_flight_max = kPlaces,
                             .admission_wait_ms = 0,
                             .store_wait_ms = 60'000}});
  const auto batch_of = [](int users) {
    v1::FilterBatchRequest batch;
    for (int i = 0; i < users; ++i) batch.add_requests()->set_user("u" + std::to_string(i));
    return batch;
  };
  const auto ask = [&](int users) {
    grpc::ClientContext context;
    v1::FilterBatchResponse response;
    return served.stub->FilterBatch(&context, batch_of(users), &response);
  };
  served.world.store.stall_reads(true);
  grpc::ClientContext context;
  v1::FilterBatchResponse response;
  const v1::FilterBatchRequest waits = batch_of(4);
  std::promise<grpc::Status> ended;
  served.stub->async()->FilterBatch(&context, &waits, &response,
                                    [&](grpc::Status status) { ended.set_value(std::move(status)); });
  served.world.store.wait_for_read();
  CHECK(served.server->counters().in_flight == 4);
  const grpc::Status refused = ask(2);
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(refused.error_message(), Catch::StartsWith("4 of at most 5 users are being answered already; ask again"));
  CHECK(ask(0).ok());  // Takes the place of a call without users.
  CHECK(ask(6).error_code() == grpc::StatusCode::INVALID_ARGUMENT);  // Never possible, also with room.
  served.world.store.stall_reads(false);
  CHECK(ended.get_future().get().ok());
  CHECK(ask(kPlaces).ok());
  CHECK(ask(6).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(ask(kPlaces).ok());
  CHECK(served.server->counters().in_flight == 0);
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

TEST_CASE("filter batch: limits of requests, of ids of each user and of ids in all") {
  Served served({.service = {.limits = {.candidates_max = 3'000, .batch_ids_max = 20'000}}});
  v1::FilterBatchResponse response;
  const auto refusal = [&](int requests, int candidates, int client_seen = 0) {
    v1::FilterBatchRequest batch;
    for (int i = 0; i < requests; ++i) {
      v1::FilterRequest& request = *batch.add_requests();
      request.set_user("u1");
      for (int c = 0; c < candidates; ++c) request.mutable_candidates()->add_integers(c);
      for (int c = 0; c < client_seen; ++c) request.mutable_client_seen()->add_integers(c);
    }
    grpc::ClientContext context;
    const grpc::Status status = served.stub->FilterBatch(&context, batch, &response);
    CHECK(status.error_code() == (status.ok() ? grpc::StatusCode::OK : grpc::StatusCode::INVALID_ARGUMENT));
    return status.error_message();
  };
  CHECK(refusal(0, 0).empty());
  CHECK(refusal(200, 100, 100).empty());
  CHECK(refusal(201, 0) == "requests: 201 requests, at most 200 are allowed; send them in several calls");
  CHECK(refusal(7, 3'000) ==
        "candidates: 21000 ids in all requests, at most 20000 are allowed; send the requests in several calls");
  CHECK(refusal(10, 0, 2'001) ==
        "client_seen: 20010 ids in all requests, at most 20000 are allowed; send the requests in several calls");
  CHECK(refusal(2, 3'001).empty());  // Too many for one user is the fault of that request alone.
  CHECK(response.outcomes(1).code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(response.outcomes(1).message() == "candidates: 3001 ids, at most 3000 are allowed");
}

TEST_CASE("filter batch: 200 users with 1,000 candidates each are one call") {
  Served served;
  served.world.play("u1", "v7");
  v1::FilterBatchRequest batch;
  for (int user = 0; user < 200; ++user) {
    v1::FilterRequest& request = *batch.add_requests();
    request.set_user("u" + std::to_string(user));
    for (int item = 0; item < 1'000; ++item) request.mutable_candidates()->add_text("v" + std::to_string(item));
  }
  grpc::ClientContext context;
  v1::FilterBatchResponse response;
  REQUIRE(served.stub->FilterBatch(&context, batch, &response).error_message() == "");
  CHECK(response.outcomes(1).response().seen_count() == 1);
  CHECK(response.outcomes(2).response().seen_count() == 0);
}
