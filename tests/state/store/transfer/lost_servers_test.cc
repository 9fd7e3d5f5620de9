// Servers that are away when a filter store moves, at the start or half-way.
#include <functional>

#include "tests/state/store/transfer/transfer_beds.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

void fill(Bed& bed) {
  for (int u = 0; u < 40; ++u) bed.play("u" + std::to_string(u), kNow, {"a", "b" + std::to_string(u)});
  bed.forget_everything("u1", kNowMs - 1000, kNow - 6, kNow - 3);
  REQUIRE(bed.store().advance(PartitionId(0), merged_below(100)).ok());
}

TransferProgress at_file(int number, std::function<void()> does) {
  return [does = std::move(does), number, files = 0](const ExportManifest&) mutable {
    if (++files == number) does();
  };
}

}  // namespace

TEST_CASE("lost servers: an import that finds no server writes nothing and names the address") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  REQUIRE(transfer.take().ok());
  RedisServer& server = transfer.target.server();
  server.kill_now();
  const Status refused = transfer.import();
  CHECK(refused.code() == Code::kRetry);
  CHECK_THAT(refused.message(), Catch::Contains(server.address().text()));
  server.start();
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
}

TEST_CASE("lost servers: an import that loses its server is to be run again, and stages refuse the store until then") {
  EmbeddedToRedis transfer;
  fill(transfer.bed);
  transfer.options.file_bytes = 500;
  REQUIRE(transfer.take().ok());
  RedisServer& server = transfer.target.server();
  const bool kept = GENERATE(true, false);  // The server is back with all that it had, or with nothing.
  transfer.after_file = at_file(2, [&] { kept ? server.freeze() : server.kill_now(); });
  const Status lost = transfer.import();
  CHECK(lost.code() == Code::kRetry);
  CHECK_THAT(lost.message(), Catch::Contains(server.address().text()) &&
                                 Catch::Contains("the import has not ended (run it again"));
  kept ? server.unfreeze() : server.start();
  transfer.after_file = {};
  if (kept) CHECK(transfer.target.open(0).code() == Code::kInvalid);
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == values_of(admin_of(transfer.bed)));
  CHECK(transfer.target.store().read_watermark(PartitionId(0)).value() == merged_below(100));
}

TEST_CASE("lost servers: an export that loses its server is to be run again, and goes on behind its last file") {
  RedisToEmbedded transfer;
  fill(transfer.bed);
  RedisServer& server = transfer.bed.server();
  const Values before = values_of(admin_of(transfer.bed));
  transfer.options.file_bytes = 500;
  const bool kept = GENERATE(true, false);
  // The forgotten value is written, the filters are still to come.
  transfer.options.progress = at_file(1, [&] { kept ? server.freeze() : server.kill_now(); });
  const Status lost = transfer.take().status();
  CHECK(lost.code() == Code::kRetry);
  CHECK_THAT(lost.message(), Catch::Contains("the export has not ended (run it again"));
  if (!kept) CHECK_THAT(lost.message(), Catch::Contains(server.address().text()));
  kept ? server.unfreeze() : server.start();
  transfer.options.progress = {};
  const Status again = transfer.take().status();
  if (!kept) {
    CHECK_THAT(again.message(), Catch::Contains("remove that folder, and export from the beginning"));
    return;
  }
  REQUIRE(again.to_string() == "ok");
  REQUIRE(transfer.import().to_string() == "ok");
  REQUIRE(transfer.target.open(0).to_string() == "ok");
  CHECK(values_of(transfer.target.store()) == before);
}
