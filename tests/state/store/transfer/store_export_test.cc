#include "state/store/transfer/store_export.h"

#include <filesystem>
#include <fstream>

#include "tests/state/store/transfer/transfer_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

#define TRANSFERS EmbeddedToRedis, RedisToEmbedded

namespace {

template <typename Bed>
void fill(Bed& bed) {
  for (int u = 0; u < 80; ++u) bed.play("u" + std::to_string(u), kNow, {"a"});
  for (int u = 0; u < 5; ++u) bed.forget_everything("u" + std::to_string(u), kNowMs - 1000, kNow - 6, kNow - 3);
  REQUIRE(bed.store().advance(PartitionId(0), merged_below(100)).ok());
}

template <typename Transfer>
void stop_after(Transfer& transfer, int files) {
  transfer.options.progress = [files, seen = 0](const ExportManifest&) mutable {
    if (++seen == files) throw std::runtime_error("killed");
  };
  REQUIRE_THROWS(transfer.take());
  transfer.options.progress = {};
}

}  // namespace

TEMPLATE_TEST_CASE("export: stopped after any file, it goes on there, and has each value once", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 300;
  for (const int files : {1, 2, 3}) stop_after(transfer, files);
  const auto done = transfer.take();
  REQUIRE(done.status().to_string() == "ok");
  CHECK(done->watermarks == Watermarks{{PartitionId(0), merged_below(100)}});
  CHECK(values_in(transfer.files(), *done) == values_of(admin_of(transfer.bed)));
}

TEMPLATE_TEST_CASE("export: no forgotten value is read after the first filter, also when it goes on later", "",
                   TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 300;
  transfer.options.progress = [&](const ExportManifest& manifest) {
    if (manifest.files.back().kind == ValueKind::kFilter) throw std::runtime_error("killed");
  };
  REQUIRE_THROWS(transfer.take());
  transfer.options.progress = {};
  transfer.bed.forget_everything("u30", kNowMs, kNow - 6, kNow + 1);  // It removes a filter that may be exported.
  const auto done = transfer.take();
  REQUIRE(done.status().to_string() == "ok");
  CHECK(done->values(ValueKind::kForgotten) == 5);
}

TEMPLATE_TEST_CASE("export: values are at least as new as the watermarks", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 300;
  bool merged = false;
  transfer.options.progress = [&](const ExportManifest&) {
    if (std::exchange(merged, true)) return;
    transfer.bed.play("u7", kNow, {"later"});
    REQUIRE(transfer.bed.store().advance(PartitionId(0), merged_below(200)).ok());
  };
  const auto done = transfer.take();
  REQUIRE(done.status().to_string() == "ok");
  CHECK(done->watermarks.at(PartitionId(0)) == merged_below(100));
}

TEMPLATE_TEST_CASE("export: a source that took another log, or went back, is refused", "", TRANSFERS) {
  TestType transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 300;
  stop_after(transfer, 1);
  SECTION("another log") { REQUIRE(admin_of(transfer.bed).begin_new_log().ok()); }
  SECTION("an older watermark") { REQUIRE(transfer.bed.store().advance(PartitionId(0), merged_below(99)).ok()); }
  const auto refused = transfer.take();
  CHECK(refused.code() == Code::kInvalid);
  CHECK(refused.status().message().find("that folder, and export from the beginning") != std::string::npos);
}

TEST_CASE("export: a damaged value is counted and goes with the others") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  transfer.bed.damage("u7", kNow);
  const auto done = transfer.take();
  REQUIRE(done.status().to_string() == "ok");
  CHECK(done->damaged() == 1);
  CHECK(values_in(transfer.files(), *done) == values_of(admin_of(transfer.bed)));
}

TEST_CASE("export: what a shard has lost before it, its watermark does not cover; a loss meanwhile ends it") {
  RedisToEmbedded transfer;
  fill(transfer.bed);
  const std::string key = transfer.bed.keys.shard_state(ShardId(17));
  const auto lose = [&] { REQUIRE(transfer.bed.ask_owner(key, {"DEL", key}) == "1\n"); };
  SECTION("before") {
    lose();
    const auto done = transfer.take();
    REQUIRE(done.status().to_string() == "ok");
    CHECK(done->watermarks.empty());
    return;
  }
  transfer.options.progress = [&](const ExportManifest& manifest) {
    if (manifest.files.size() == 1) lose();
  };
  const auto refused = transfer.take();
  CHECK(refused.code() == Code::kRetry);
  CHECK(refused.status().message().find("shard 17 of partition 0 has lost writes") != std::string::npos);
}

TEST_CASE("export: a folder with something else, or with a complete export, is refused") {
  EmbeddedToRedis transfer;
  SECTION("something else") {
    std::filesystem::create_directories(transfer.options.folder);
    std::ofstream(transfer.options.folder + "/mine") << "x";
  }
  SECTION("complete") { REQUIRE(transfer.take().ok()); }
  CHECK(transfer.take().code() == Code::kInvalid);
}
