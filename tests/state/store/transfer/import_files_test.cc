#include "state/store/transfer/import_files.h"

#include <filesystem>

#include "tests/state/store/transfer/transfer_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

#define TRANSFERS EmbeddedToRedis, RedisToEmbedded, ClusterToEmbedded

namespace {

template <typename Bed>
void fill(Bed& bed) {
  for (int u = 0; u < 40; ++u) bed.play("u" + std::to_string(u), kNow - u % 3, {"a", "b" + std::to_string(u)});
  bed.forget_everything("u1", kNowMs - 1000, kNow - 6, kNow - 3);
  for (int32_t p = 0; p < 3; ++p) REQUIRE(bed.store().advance(PartitionId(p), merged_below(100 + p)).ok());
}

std::vector<std::string> many_items(int count) {
  std::vector<std::string> items;
  for (int i = 0; i < count; ++i) items.push_back("item" + std::to_string(i));
  return items;
}

// The store as a merge stage opens it.
std::unique_ptr<RedisFilterStore> open_stage(RedisTarget& target) {
  RedisStoreConfig config;
  config.addresses = {target.server().address()};
  config.partition_count = kBedPartitions;
  auto stage = std::make_unique<RedisFilterStore>(config, target.calendar, target.clock, true);
  REQUIRE(stage->refresh().ok());
  return stage;
}

}  // namespace

TEMPLATE_TEST_CASE("import: every value arrives byte for byte, and the watermarks with it", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.bed.play("heavy", kNow, many_items(200'000));  // Some 400 KB.
  transfer.options.file_bytes = 500;
  const auto exported = transfer.take();
  REQUIRE(exported.status().to_string() == "ok");
  CHECK(exported->values(ValueKind::kFilter) == 41);
  CHECK(exported->values(ValueKind::kForgotten) == 1);
  CHECK(exported->damaged() == 0);
  CHECK(exported->files.size() > 3);
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
  for (int32_t p = 0; p < 3; ++p)
    CHECK(transfer.target.store().read_watermark(PartitionId(p)).value() == merged_below(100 + p));
  CHECK(transfer.target.store().read_watermark(PartitionId(3)).value() == std::nullopt);
}

TEMPLATE_TEST_CASE("import: an empty store gives an empty store", "", TRANSFERS) {
  TestType transfer;
  REQUIRE(transfer.take().status().to_string() == "ok");
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()).empty());
}

TEMPLATE_TEST_CASE("import: stopped half-way, the store takes the same import alone, and ends in the same values", "",
                   TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 500;
  REQUIRE(transfer.take().ok());
  int files = 0;
  transfer.after_file = [&](const ExportManifest&) {
    if (++files == 3) throw std::runtime_error("killed");
  };
  REQUIRE_THROWS(transfer.import());
  CHECK(transfer.target.open(0).code() == Code::kInvalid);
  CHECK(transfer.target.open(kExportId + 1).code() == Code::kInvalid);
  transfer.after_file = {};
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
}

TEMPLATE_TEST_CASE("import: a store that has data is refused and stays as it is", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  REQUIRE(transfer.take().ok());
  REQUIRE(transfer.import().ok());
  const Status again = transfer.import();
  CHECK(again.code() == Code::kInvalid);
  CHECK(again.message().find("already: name an empty") != std::string::npos);
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
}

TEMPLATE_TEST_CASE("import: a store that a stage has opened and left empty is filled", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  REQUIRE(transfer.take().ok());
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  REQUIRE(transfer.import().to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
}

TEST_CASE("import: another partition count, period or time zone is refused with both values") {
  EmbeddedToRedis transfer;
  REQUIRE(transfer.take().ok());
  const auto refusal = [&](const StoreMeta& configured) {
    return verify_export(transfer.files(), configured).status().message();
  };
  const std::string partitions = refusal({5, PeriodUnit::kMonth, "UTC"});
  CHECK(partitions.find("4 partitions") != std::string::npos);
  CHECK(partitions.find("says 5") != std::string::npos);
  const std::string zone = refusal({kBedPartitions, PeriodUnit::kMonth, "Europe/Berlin"});
  CHECK(zone.find("UTC") != std::string::npos);
  CHECK(zone.find("Europe/Berlin") != std::string::npos);
  CHECK(refusal({kBedPartitions, PeriodUnit::kDay, "UTC"}).find("day") != std::string::npos);
}

TEST_CASE("import: a missing, short or damaged file is named before anything is written") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 500;
  REQUIRE(transfer.take().ok());
  const std::string file = transfer.options.folder + "/values-000002.brx";
  SECTION("missing") { std::filesystem::remove(file); }
  SECTION("short") { std::filesystem::resize_file(file, 100); }
  SECTION("of another number") {
    std::filesystem::copy_file(transfer.options.folder + "/values-000003.brx", file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  const Status refused = transfer.import();
  CHECK(refused.code() == Code::kCorrupt);
  CHECK(refused.message().find("values-000002.brx") != std::string::npos);
  REQUIRE(transfer.target.open(0).ok());
  CHECK(values_of(transfer.target.store()).empty());
}

TEST_CASE("import: on servers of the Redis protocol, values expire as if the store had written them") {
  EmbeddedToRedis transfer;
  transfer.bed.play("u1", kNow, {"a"});
  REQUIRE(transfer.take().ok());
  REQUIRE(transfer.import().ok());
  const std::string u1 = user("u1");
  const std::string key = RedisKeys("bloomring:").filter(u1, PeriodUnit::kMonth, PeriodIndex(kNow));
  const int64_t expires_ms = transfer.bed.calendar.expires_at_ms(user_hash(user("u1")), PeriodIndex(kNow));
  CHECK(transfer.target.server().ask({"PEXPIRETIME", key}) == std::to_string(expires_ms) + "\n");
}

TEST_CASE("import: a stage that opened the store before it takes no partition over until it has ended") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 500;
  REQUIRE(transfer.take().ok());
  RedisTarget& target = transfer.target;
  const auto stage = open_stage(target);
  int files = 0;
  transfer.after_file = [&](const ExportManifest&) {
    ++files;
    const auto writer = stage->take_over(PartitionId(0));
    CHECK(writer.code() == Code::kInvalid);
    CHECK_THAT(writer.status().message(), Catch::Contains("an import into the store has not ended"));
  };
  REQUIRE(transfer.import().to_string() == "ok");
  CHECK(files > 3);
  CHECK(stage->take_over(PartitionId(0)).ok());
  CHECK(target.store().read_watermark(PartitionId(0)).value() == merged_below(100));
}

TEST_CASE("import: the writer of a partition is fenced out") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  REQUIRE(transfer.take().ok());
  REQUIRE(transfer.target.open(0).ok());
  RedisTarget& target = transfer.target;
  const auto stage = open_stage(target);
  const auto writer = stage->take_over(PartitionId(0));
  REQUIRE(writer.ok());
  REQUIRE(transfer.import().to_string() == "ok");
  CHECK(advance_now(**writer, merged_below(1)).code() == Code::kFenced);
  CHECK(target.store().read_watermark(PartitionId(0)).value() == merged_below(100));
}
