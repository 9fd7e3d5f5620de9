#include "serving/mirror/mirrored_query.h"

#include <catch2/catch.hpp>

#include "client/client_messages.h"

using namespace bloomring;

namespace {

using Items = std::vector<std::string>;

v1::FilterRequest request() {
  v1::FilterRequest request;
  request.set_user("u1");
  return request;
}

}  // namespace

TEST_CASE("mirrored query: ids of each form are the same text") {
  v1::FilterRequest text = request(), integers = request(), packed = request();
  for (const int64_t id : {17, -3, 4711}) {
    text.mutable_candidates()->add_text(std::to_string(id));
    integers.mutable_candidates()->add_integers(id);
  }
  pack({"17", "-3", "4711"}, *packed.mutable_candidates());
  for (const v1::FilterRequest& one : {text, integers, packed}) {
    const auto query = mirrored_query(one, {});
    REQUIRE(query.ok());
    CHECK(query->items == Items{"17", "-3", "4711"});
  }
}

TEST_CASE("mirrored query: of a call it keeps whom and what it asks about, and not how to answer") {
  v1::FilterRequest all = request();
  all.set_scene("feed");
  all.set_strict(true);
  all.set_min_keep(5);
  all.mutable_client_seen()->add_text("v9");
  for (const char* id : {"v1", "v1-repost", "v2"}) all.mutable_candidates()->add_text(id);
  all.add_ids_per_candidate(2);
  all.add_ids_per_candidate(1);
  const auto query = mirrored_query(all, {});
  REQUIRE(query.ok());
  CHECK(query->user == "u1");
  CHECK(query->scene == "feed");
  CHECK(query->items == Items{"v1", "v1-repost", "v2"});
  CHECK_FALSE(query->strict);
  CHECK(query->min_keep == 0);
  CHECK(query->client_seen.empty());
  CHECK_FALSE(query->all_scenes);
  v1::FilterRequest scenes = request();
  scenes.set_all_scenes(true);
  CHECK(mirrored_query(scenes, {})->all_scenes);
}

TEST_CASE("mirrored query: what the service would refuse is refused, with its reason") {
  v1::FilterRequest none;
  CHECK(mirrored_query(none, {}).status().message() == "user: an id is empty");
  v1::FilterRequest broken = request();
  broken.mutable_candidates()->mutable_packed()->set_bytes("abc");
  broken.mutable_candidates()->mutable_packed()->set_lengths("\x04");
  CHECK(mirrored_query(broken, {}).code() == Code::kBadRecord);
  v1::FilterRequest other = request();
  other.set_scene("other");
  CHECK(mirrored_query(other, {.scenes = {true, {"feed"}}}).code() == Code::kBadRecord);
}
