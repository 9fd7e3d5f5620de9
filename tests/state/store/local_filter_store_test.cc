// The interfaces of the filter store, as a store on this machine keeps them.
#include "state/store/local_filter_store.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

#define STORES EmbeddedBed, MemoryBed

namespace {

// Asks about the current period of each user, and keeps the end.
class KeptRead final : public FilterRead {
 public:
  explicit KeptRead(const std::vector<std::string>& names) {
    for (const std::string& name : names) keys_.push_back(user(name));
    for (const std::string& key : keys_) users_.push_back({key, {&kPeriod, 1}});
  }
  std::span<const UserPeriods> users() const override { return users_; }
  void end(std::vector<Result<StoredUser>> users) override {
    ++ends;
    found = std::move(users);
  }
  void refuse() override { ++ends; }

  int ends = 0;
  std::vector<Result<StoredUser>> found;

 private:
  static constexpr PeriodIndex kPeriod{kNow};
  std::vector<std::string> keys_;
  std::vector<UserPeriods> users_;
};

Status end_of(PartitionWriter& writer) {
  const std::optional<Status> ended = writer.poll();
  REQUIRE(ended.has_value());
  CHECK_FALSE(writer.poll().has_value());  // Told once.
  return *ended;
}

bool seen(const StoredFilter& filter, const std::string& name, const std::string& item) {
  filter::Query query;
  REQUIRE(query.add(filter.value, filter.store_key).ok());
  const ItemHash hash = item_hash(item);
  uint8_t answer = filter::Query::kUnseen;
  query.run({&hash, 1}, user(name), {&answer, 1});
  return answer == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("filter store: one read is about many users, and one that is damaged fails alone", "", STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.play("u2", kNow, {"b"});
  bed.play("u4", kNow, {"d"});
  bed.damage_forgotten("u2");
  const auto read = std::make_shared<KeptRead>(std::vector<std::string>{"u1", "u2", "u3", "u4"});  // Shared: the seam.
  static_cast<FilterReader&>(bed.store()).begin_read(read);
  REQUIRE(read->ends == 1);
  REQUIRE(read->found.size() == 4);
  REQUIRE(read->found[0].ok());
  CHECK(seen(read->found[0]->filters.at(0), "u1", "a"));
  CHECK(read->found[1].code() == Code::kCorrupt);
  REQUIRE(read->found[2].ok());
  CHECK(read->found[2]->filters.empty());
  REQUIRE(read->found[3].ok());
  CHECK(seen(read->found[3]->filters.at(0), "u4", "d"));
}

TEMPLATE_TEST_CASE("filter store: an operation of a partition's writer ends once, and says how", "", STORES) {
  TestType bed;
  const auto writer = bed.store().take_over(PartitionId(0)).value();
  const std::string key = user("u1");
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  CHECK_FALSE(writer->poll().has_value());
  writer->begin_apply({}, {&update, 1});
  CHECK(end_of(*writer).ok());
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "a");
  const FilterUpdate nothing{key, PeriodIndex(kNow), {}};
  writer->begin_apply({}, {&nothing, 1});
  CHECK(end_of(*writer).code() == Code::kBadRecord);
  const UserRef keys[] = {key, std::string_view("\x04" "feedu2")};
  bed.forget_everything("u1", kNowMs, 0, 0);
  writer->begin_read_forgotten(keys);
  CHECK(end_of(*writer).ok());
  const std::vector<Forgotten> forgotten = writer->take_forgotten();
  REQUIRE(forgotten.size() == 2);
  CHECK(forgotten[0].everything_ms() == kNowMs);
  CHECK(forgotten[1].empty());
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(7)}, HourIndex(1));
  watermark.merged_ms = kNowMs;
  writer->begin_advance(watermark);
  CHECK(end_of(*writer).ok());
  CHECK((*bed.store().heard_watermark(PartitionId(0)))->offset == Offset(7));
  CHECK(writer->merged_ms() == kNowMs);
}

TEMPLATE_TEST_CASE("filter store: a writer whose partition was taken over writes nothing", "", STORES) {
  TestType bed;
  const auto first = bed.store().take_over(PartitionId(0)).value();
  const auto other = bed.store().take_over(PartitionId(1)).value();
  const auto second = bed.store().take_over(PartitionId(0)).value();
  const std::string key = user("u1");
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(7)}, HourIndex(1));
  first->begin_apply({}, {&update, 1});
  CHECK(end_of(*first).code() == Code::kFenced);
  first->begin_advance(watermark);
  CHECK(end_of(*first).code() == Code::kFenced);
  first->begin_sync();
  CHECK(end_of(*first).code() == Code::kFenced);
  CHECK(bed.scanned() == 0);
  CHECK_FALSE(bed.store().read_watermark(PartitionId(0))->has_value());
  for (PartitionWriter* writer : {second.get(), other.get()}) {
    writer->begin_apply({}, {&update, 1});
    CHECK(end_of(*writer).ok());
  }
  CHECK(bed.store().take_over(PartitionId(kBedPartitions)).code() == Code::kInvalid);
}

TEMPLATE_TEST_CASE("filter store: a value is bound to its logical key, whatever name another backend gives it", "",
                   STORES) {
  TestType bed;
  bed.play("u1", kNow, {"a"});
  bed.play("u2", kNow, {"b"});
  // Another backend: its names are its own, it keeps logical key and value as they are.
  std::map<std::string, std::pair<std::string, std::string>> elsewhere;
  REQUIRE(bed.store()
              .scan([&](const StoredFilter& stored, std::string_view user_key) {
                elsewhere["{" + std::string(user_key) + "}:filter"] = {stored.store_key, stored.value};
                return true;
              })
              .ok());
  const auto& [key, value] = elsewhere.at("{" + user("u1") + "}:filter");
  CHECK(seen({PeriodIndex(kNow), key, value}, "u1", "a"));
  const auto& [other_key, other_value] = elsewhere.at("{" + user("u2") + "}:filter");
  filter::Query query;
  CHECK(query.add(value, other_key).code() == Code::kCorrupt);
}
