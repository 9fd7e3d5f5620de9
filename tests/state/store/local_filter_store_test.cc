// The interfaces of the filter store, as each store keeps them.
#include "state/store/local_filter_store.h"

#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/state/store/filter_store_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

#define STORES EmbeddedBed, MemoryBed, RedisBed, RedisClusterBed

namespace {

// Asks about the current period of each user, and keeps the end.
class KeptRead final : public FilterRead {
 public:
  explicit KeptRead(const std::vector<std::string>& names) {
    for (const std::string& name : names) keys_.push_back(user(name));
    for (const std::string& key : keys_) users_.push_back({key, {&kPeriod, 1}});
  }
  std::span<const UserPeriods> users() const override { return users_; }
  void end(std::vector<Result<StoredUser>> users) override { ended_.set_value(std::move(users)); }  // Throws if twice.
  void refuse() override { ended_.set_value({}); }
  std::vector<Result<StoredUser>> wait() { return ended_.get_future().get(); }

 private:
  static constexpr PeriodIndex kPeriod{kNow};
  std::vector<std::string> keys_;
  std::vector<UserPeriods> users_;
  std::promise<std::vector<Result<StoredUser>>> ended_;
};

Status end_of(PartitionWriter& writer) {
  Status ended = BlockingFilterStore<RedisFilterStore>::wait(writer);
  CHECK_FALSE(writer.poll().has_value());  // Told once.
  return ended;
}

PartitionId partition_of_user(const std::string& key) { return partition_of(UserRef(key).shard(), kBedPartitions); }

// A user of the partition, or of any other one.
std::string user_in(PartitionId partition, bool in) {
  for (int i = 0;; ++i) {
    std::string key = user("other" + std::to_string(i));
    if ((partition_of_user(key) == partition) == in) return key;
  }
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
  bed.reader().begin_read(read);
  const std::vector<Result<StoredUser>> found = read->wait();
  REQUIRE(found.size() == 4);
  REQUIRE(found[0].ok());
  CHECK(seen(found[0]->filters.at(0), "u1", "a"));
  CHECK(found[1].code() == Code::kCorrupt);
  REQUIRE(found[2].ok());
  CHECK(found[2]->filters.empty());
  REQUIRE(found[3].ok());
  CHECK(seen(found[3]->filters.at(0), "u4", "d"));
}

TEMPLATE_TEST_CASE("filter store: an operation of a partition's writer ends once, and says how", "", STORES) {
  TestType bed;
  const std::string key = user("u1");
  const PartitionId partition = partition_of_user(key);
  const std::string other = user_in(partition, true);
  const auto writer = bed.writers().take_over(partition).value();
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  CHECK_FALSE(writer->poll().has_value());
  writer->begin_apply({}, {&update, 1});
  CHECK(end_of(*writer).ok());
  CHECK(bed.seen("u1", kNow, {"a", "b"}) == "a");
  const FilterUpdate nothing{key, PeriodIndex(kNow), {}};
  writer->begin_apply({}, {&nothing, 1});
  CHECK(end_of(*writer).code() == Code::kBadRecord);
  ForgottenUpdate forget{key, {}, PeriodIndex(0), PeriodIndex(0)};
  forget.forgotten.forget_everything(kNowMs);
  writer->begin_apply({&forget, 1}, {});
  CHECK(end_of(*writer).ok());
  const UserRef keys[] = {key, other};
  writer->begin_read_forgotten(keys);
  CHECK(end_of(*writer).ok());
  const std::vector<Forgotten> forgotten = writer->take_forgotten();
  REQUIRE(forgotten.size() == 2);
  CHECK(forgotten[0].everything_ms() == kNowMs);
  CHECK(forgotten[1].empty());
  writer->begin_sync();
  CHECK(end_of(*writer).ok());
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(7)}, HourIndex(1));
  watermark.merged_ms = kNowMs;
  writer->begin_advance(watermark);
  CHECK(end_of(*writer).ok());
  CHECK((*bed.reader().heard_watermark(partition))->offset == Offset(7));
  CHECK(writer->merged_ms() == kNowMs);
}

TEMPLATE_TEST_CASE("filter store: a writer whose partition was taken over writes nothing", "", STORES) {
  TestType bed;
  const std::string key = user("u1");
  const PartitionId partition = partition_of_user(key);
  const std::string other_key = user_in(partition, false);
  const auto first = bed.writers().take_over(partition).value();
  const auto other = bed.writers().take_over(partition_of_user(other_key)).value();
  const auto second = bed.writers().take_over(partition).value();
  const ItemHash item = item_hash("a");
  const FilterUpdate update{key, PeriodIndex(kNow), {&item, 1}};
  const FilterUpdate other_update{other_key, PeriodIndex(kNow), {&item, 1}};
  MergedWatermark watermark;
  watermark.add({Offset(0), Offset(7)}, HourIndex(1));
  first->begin_apply({}, {&update, 1});
  CHECK(end_of(*first).code() == Code::kFenced);
  first->begin_advance(watermark);
  CHECK(end_of(*first).code() == Code::kFenced);
  first->begin_sync();
  CHECK(end_of(*first).code() == Code::kFenced);
  CHECK(bed.scanned() == 0);
  CHECK_FALSE(bed.reader().read_watermark(partition)->has_value());
  second->begin_apply({}, {&update, 1});
  CHECK(end_of(*second).ok());
  other->begin_apply({}, {&other_update, 1});
  CHECK(end_of(*other).ok());
  CHECK(bed.scanned() == 2);
  CHECK(bed.writers().take_over(PartitionId(kBedPartitions)).code() == Code::kInvalid);
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
