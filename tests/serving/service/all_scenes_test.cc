// Calls about all scenes of a user, and about scenes that do not exist.
#include <algorithm>
#include <catch2/catch.hpp>

#include "client/client.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

GrpcServerConfig declared(std::vector<std::string> scenes) {
  GrpcServerConfig config;
  config.service.limits.scenes.declared = std::move(scenes);
  return config;
}

std::unique_ptr<Client> client_of(const Served& served) {
  return Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false});
}

FilterCall everywhere(const std::vector<std::string>& items) {
  FilterCall call;
  call.user = "u1";
  call.all_scenes = true;
  call.items = items;
  return call;
}

// "recent", "filter 2026-11", "unseen", one for each item.
std::vector<std::string> reasons(const FilterReply& reply) {
  std::vector<std::string> found;
  for (const ItemVerdict& item : reply.items) {
    found.push_back(std::string(reason_name(item.reason)) + (item.period.empty() ? "" : " " + item.period));
  }
  return found;
}

// Three scenes, of which one is merged and one has something served only.
void fill(Served& served) {
  served.partitions.known.note_stored({});
  served.world.play_in("feed", "u1", "old");
  served.world.merge();
  served.world.advance_hours(7);
  served.world.release();
  served.world.play_in("search", "u1", "new");
  served.world.serve("u1", "shown");
}

}  // namespace

TEST_CASE("all scenes: what was played in any scene is seen, with its reason, and the scenes are told") {
  Served served;
  fill(served);
  const FilterReply reply = client_of(served)->filter(everywhere({"old", "new", "shown", "never"})).value();
  CHECK(reasons(reply) == std::vector<std::string>{"filter 2026-11", "recent", "served", "unseen"});
  CHECK(reply.complete);
  CHECK(reply.user_known);
  CHECK(reply.scenes == std::vector<std::string>{"", "feed", "search"});
  CHECK(reply.known_scenes == reply.scenes);
  CHECK(reply.expected_error > 0);
}

TEST_CASE("all scenes: a user is known in the scenes in which anything is known") {
  Served served;
  fill(served);
  served.world.play_in("comics", "u2", "v1");
  const FilterReply reply = client_of(served)->filter(everywhere({})).value();
  CHECK(reply.scenes == std::vector<std::string>{"", "comics", "feed", "search"});
  CHECK(reply.known_scenes == std::vector<std::string>{"", "feed", "search"});
}

TEST_CASE("all scenes: an answer says that it is incomplete until the scenes of the filter store are known") {
  Served served;
  served.world.play_in("feed", "u1", "v1");
  FilterReply reply = client_of(served)->filter(everywhere({"v1"})).value();
  CHECK(reasons(reply) == std::vector<std::string>{"recent"});
  CHECK_FALSE(reply.complete);
  CHECK(reply.gaps.front().reason == "the scenes of the filter store have not been read yet");
  served.partitions.known.note_stored({"search"});
  reply = client_of(served)->filter(everywhere({"v1"})).value();
  CHECK(reply.complete);
  CHECK(reply.scenes == std::vector<std::string>{"feed", "search"});
  served.partitions.known.expect_stored();
  FilterCall strict = everywhere({"v1"});
  strict.strict = true;
  CHECK(client_of(served)->filter(strict).code() == Code::kRetry);
}

TEST_CASE("all scenes: the events with which ingest asks for the time make no scene") {
  Served served;
  served.partitions.known.note_stored({});
  served.world.play_in(std::string(kClockScene), "1", "x");
  CHECK(served.partitions.known.all().names.empty());
}

TEST_CASE("all scenes: more scenes than are asked at once make an answer incomplete") {
  Served served;
  served.partitions.known.note_stored({});
  for (size_t i = 0; i <= kScenesMax; ++i) served.world.play_in("s" + std::to_string(i), "u1", "v" + std::to_string(i));
  const FilterReply reply = client_of(served)->filter(everywhere({"v0"})).value();
  CHECK(reply.items.front().seen);
  CHECK(reply.scenes.size() == kScenesMax);
  CHECK_FALSE(reply.complete);
}

TEST_CASE("all scenes: of a part that fails the answer has a gap, and of a store that fails, too") {
  Served served;
  fill(served);
  served.world.store.fail_reads(true);
  const FilterReply reply = client_of(served)->filter(everywhere({"old", "new"})).value();
  CHECK(reply.items[1].seen);
  CHECK_FALSE(reply.complete);
  CHECK(std::ranges::any_of(reply.gaps, [](const Gap& gap) { return gap.reason.starts_with("scene feed: "); }));
}

TEST_CASE("all scenes: the answer is of the scenes that other replicas hold, too") {
  const GrpcServerConfig config = declared({"", "feed", "search"});
  Served asked(config), holder(config);
  asked.partitions.held = nullptr;
  asked.partitions.elsewhere = {holder.server->address()};
  asked.partitions.known.note_stored({"", "feed", "search"});
  fill(holder);
  const FilterReply reply = client_of(asked)->filter(everywhere({"old", "never", "new"})).value();
  CHECK(reasons(reply) == std::vector<std::string>{"filter 2026-11", "unseen", "recent"});
  CHECK(reply.complete);
  CHECK(asked.server->counters().complete_known == 1);
  CHECK(holder.server->counters().complete_known + holder.server->counters().complete_unknown == 0);
}

TEST_CASE("all scenes: a scene that is stored and not declared any more is asked, here and elsewhere, and forgotten") {
  const GrpcServerConfig config = declared({"search"});
  Served asked(config), holder(config);
  asked.partitions.held = nullptr;
  asked.partitions.elsewhere = {holder.server->address()};
  fill(holder);
  asked.partitions.known.note_stored({"feed", "search"});
  for (Served* served : {&holder, &asked}) {
    const FilterReply reply = client_of(*served)->filter(everywhere({"old", "never", "new"})).value();
    CHECK(reasons(reply) == std::vector<std::string>{"filter 2026-11", "unseen", "recent"});
    CHECK(reply.complete);
  }
  REQUIRE(client_of(asked)->forget_everything_in_all_scenes("u1").ok());
  CHECK(reasons(client_of(holder)->filter(everywhere({"old", "new"})).value()) ==
        std::vector<std::string>(2, "unseen"));
}

TEST_CASE("all scenes: of a site that declares them they are known once those of the filter store are") {
  KnownScenes known(SceneRules{.part_filters = true, .declared = {"search", "feed"}});
  CHECK_FALSE(known.all().missing.empty());
  known.note_stored({"kids", "feed"});
  CHECK(known.all().names == std::vector<std::string>{"feed", "kids", "search"});
  CHECK(known.all().missing.empty());
}

TEST_CASE("scenes: no call may name the one in which ingest asks for the time") {
  Served served;
  const auto client = client_of(served);
  const std::string clock_scene(kClockScene);
  FilterCall call;
  call.user = "u1";
  call.scene = clock_scene;
  const auto reply = client->filter(call);
  CHECK(reply.code() == Code::kBadRecord);
  CHECK(reply.status().message() == "scene: 'bloomring-clock' is a name of bloomring's own");
  CHECK(client->record_served("u1", clock_scene, {"v1"}).code() == Code::kBadRecord);
  CHECK(client->forget("u1", clock_scene, "v1").code() == Code::kBadRecord);
}

TEST_CASE("all scenes: a batch asks them like a single call, with every way to explain") {
  Served served;
  fill(served);
  v1::FilterBatchRequest request;
  for (const v1::ExplainLevel explain : {v1::EXPLAIN_LEVEL_UNSPECIFIED, v1::EXPLAIN_LEVEL_VERDICTS}) {
    v1::FilterRequest& one = *request.add_requests();
    one.set_user("u1");
    one.set_all_scenes(true);
    one.set_explain(explain);
    for (const char* item : {"never", "old"}) one.mutable_candidates()->add_text(item);
  }
  grpc::ClientContext context;
  v1::FilterBatchResponse response;
  REQUIRE(served.stub->FilterBatch(&context, request, &response).ok());
  REQUIRE(response.outcomes_size() == 2);
  for (const v1::FilterOutcome& outcome : response.outcomes()) {
    CHECK(outcome.response().seen() == "\x02");
    CHECK(outcome.response().seen_count() == 1);
    CHECK(outcome.response().codes().empty());
  }
  CHECK(response.outcomes(0).response().verdicts_size() == 0);
  REQUIRE(response.outcomes(1).response().verdicts_size() == 1);
  CHECK(response.outcomes(1).response().verdicts(0).period() == "2026-11");
}

TEST_CASE("all scenes: a scene, or what to bring back, is not named with them") {
  Served served;
  fill(served);
  const auto refused = [&](const auto& change) {
    return served.refusal([&](v1::FilterRequest& request) {
      request.set_all_scenes(true);
      change(request);
    });
  };
  CHECK(refused([](auto& request) { request.set_scene("feed"); }).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(refused([](auto& request) { request.set_min_keep(1); }).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(refused([](auto&) {}).ok());
}

TEST_CASE("scenes: of a site that declares them another one is refused with those there are") {
  Served served(declared({"feed", "search"}));
  const auto client = client_of(served);
  FilterCall call;
  call.user = "u1";
  call.scene = "fed";
  const auto reply = client->filter(call);
  CHECK(reply.code() == Code::kBadRecord);
  CHECK(reply.status().message() == "scene: 'fed' is none of events.scenes: feed, search");
  CHECK(client->record_served("u1", "", {"v1"}).code() == Code::kBadRecord);
  CHECK(client->forget("u1", "fed", "v1").code() == Code::kBadRecord);
  CHECK(client->snapshot("u1", "fed").code() == Code::kBadRecord);
  call.scene = "search";
  CHECK(client->filter(call).ok());
}

TEST_CASE("scenes: where they do not part filters a call may name any") {
  GrpcServerConfig config;
  config.service.limits.scenes.part_filters = false;
  Served served(config);
  served.world.play("u1", "v1");
  FilterCall call;
  call.user = "u1";
  call.scene = "feed";
  call.items = {"v1"};
  CHECK(client_of(served)->filter(call).value().items.front().seen);
  const FilterReply reply = client_of(served)->filter(everywhere({"v1"})).value();
  CHECK(reply.items.front().seen);
  CHECK(reply.complete);
}

TEST_CASE("forget in all scenes: each known scene gets one, and no other") {
  Served served;
  fill(served);
  REQUIRE(client_of(served)->forget_in_all_scenes("u1", "old").ok());
  std::vector<std::string> scenes;
  for (const auto& [key, event] : served.log.appended) {
    CHECK(key.user() == "u1");
    CHECK(event.kind == EventKind::kForget);
    scenes.emplace_back(key.scene());
  }
  CHECK(scenes == std::vector<std::string>{"", "feed", "search"});
  CHECK(client_of(served)->forget_everything_in_all_scenes("u1").ok());
  CHECK(reasons(client_of(served)->filter(everywhere({"old", "new", "shown"})).value()) ==
        std::vector<std::string>(3, "unseen"));
}

TEST_CASE("forget in all scenes: refused while not all scenes are known, and when one cannot be written") {
  Served served;
  served.world.play_in("feed", "u1", "v1");
  const Status unknown = client_of(served)->forget_everything_in_all_scenes("u1");
  CHECK(unknown.code() == Code::kRetry);
  CHECK(unknown.message().find("not all scenes are known") != std::string::npos);
  CHECK(served.log.appended.empty());
  served.partitions.known.note_stored({});
  served.log.outcome = retry("no acknowledgement came");
  CHECK(client_of(served)->forget_everything_in_all_scenes("u1").code() == Code::kRetry);
}

TEST_CASE("answers about unknown users are counted apart, complete ones alone") {
  Served served;
  served.world.play("u1", "v1");
  FilterCall call;
  call.user = "u1";
  REQUIRE(client_of(served)->filter(call).ok());
  call.user = "u2";
  REQUIRE(client_of(served)->filter(call).ok());
  CHECK(served.server->counters().complete_known == 1);
  CHECK(served.server->counters().complete_unknown == 1);
  served.world.store.fail_reads(true);
  call.user = "u3";
  REQUIRE(client_of(served)->filter(call).ok());
  CHECK(served.server->counters().complete_unknown == 1);
}
