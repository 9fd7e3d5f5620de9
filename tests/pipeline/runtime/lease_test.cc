#include "pipeline/runtime/lease.h"

#include <catch2/catch.hpp>

#include "pipeline/kafka/settings.h"
#include "pipeline/runtime/leased.h"

using namespace bloomring;

namespace {

constexpr int64_t kLengthMs = 24'000;

// Counts what reaches it.
struct CountingSink final : Sink {
  explicit CountingSink(int& count) : sent(count) {}
  Status send(OutRecord&, uint64_t) override {
    ++sent;
    return {};
  }
  Status poll_acks(std::vector<uint64_t>& tickets) override {
    tickets.push_back(7);
    return {};
  }
  int& sent;
};

struct CountingStore final : FilterStore {
  Status apply(std::span<const ForgottenUpdate>, std::span<const FilterUpdate>) override { return wrote(); }
  Status sync() override { return wrote(); }
  Status advance(PartitionId, const MergedWatermark&) override { return wrote(); }
  std::optional<int64_t> merged_ms() const override { return std::nullopt; }
  Result<std::optional<MergedWatermark>> read_watermark(PartitionId) override {
    return std::optional(MergedWatermark{Offset(42), {}, {}});
  }
  Status read(std::string_view, std::span<const PeriodIndex>, std::vector<StoredFilter>&, Forgotten&) override {
    return {};
  }
  Status read_forgotten(std::span<const std::string_view>, std::vector<Forgotten>&) override { return {}; }
  Status refresh() override { return {}; }
  Status scan(const std::function<bool(const StoredFilter&, std::string_view)>&) override { return {}; }
  FilterStoreStats stats() const override { return {}; }
  Status wrote() {
    ++writes;
    return {};
  }
  int writes = 0;
};

}  // namespace

TEST_CASE("lease: held from the hand-out for its length, and as long as it is renewed in time") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  CHECK_FALSE(lease.held());
  CHECK_FALSE(lease.renew());
  lease.take();
  for (int i = 0; i < 5; ++i) {
    clock.advance_ms(kLengthMs - 1);
    CHECK(lease.held());
    CHECK(lease.renew());
  }
  clock.advance_ms(kLengthMs);
  CHECK_FALSE(lease.held());
}

TEST_CASE("lease: one that has run out is not renewed, only taken anew") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  lease.take();
  clock.advance_ms(kLengthMs);
  CHECK_FALSE(lease.renew());
  CHECK_FALSE(lease.renew());
  CHECK_FALSE(lease.held());
  lease.take();
  CHECK(lease.held());
  CHECK(lease.renew());
}

TEST_CASE(
    "lease: a stalled member sends no record until it has partitions anew, and hears acknowledgements all the time") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  int sent = 0;
  LeasedSink sink(lease, std::make_unique<CountingSink>(sent));
  OutRecord record{"user-batches", PartitionId(0), "key", "value", {}};
  lease.take();
  CHECK(sink.send(record, 1).ok());
  clock.advance_ms(kLengthMs);
  CHECK(sink.send(record, 2).code() == Code::kRetry);
  CHECK(record.value == "value");  // Left as it was.
  CHECK(sent == 1);
  std::vector<uint64_t> tickets;
  CHECK(sink.poll_acks(tickets).ok());
  CHECK(tickets == std::vector<uint64_t>{7});
  lease.take();
  CHECK(sink.send(record, 2).ok());
  CHECK(sent == 2);
}

TEST_CASE("lease: a stalled member changes no filter and no watermark, and may read") {
  ManualClock clock(1000);
  Lease lease(clock, kLengthMs);
  CountingStore store;
  LeasedFilterStore leased(lease, store);
  lease.take();
  CHECK(leased.apply({}, {}).ok());
  CHECK(leased.sync().ok());
  CHECK(leased.advance(PartitionId(0), {}).ok());
  CHECK(store.writes == 3);
  clock.advance_ms(kLengthMs);
  CHECK(leased.apply({}, {}).code() == Code::kRetry);
  CHECK(leased.sync().code() == Code::kRetry);
  CHECK(leased.advance(PartitionId(0), {}).code() == Code::kRetry);
  CHECK(store.writes == 3);
  CHECK((*leased.read_watermark(PartitionId(0)))->offset == Offset(42));
}

TEST_CASE("lease: it is shorter than the session by the heartbeats that may have been due") {
  kafka::ClientSettings settings;
  CHECK(kafka::standstill_max_ms(settings) == 24'000);
  settings.properties = {{"session.timeout.ms", "6000"}, {"heartbeat.interval.ms", "500"}};
  CHECK(kafka::standstill_max_ms(settings) == 5'000);
  settings.properties = {{"session.timeout.ms", "6000"}};
  CHECK(kafka::standstill_max_ms(settings) == 2'000);
}
