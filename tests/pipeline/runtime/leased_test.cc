#include "pipeline/runtime/leased.h"

#include <catch2/catch.hpp>
#include <utility>

#include "tests/support/manual_clock.h"

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

// Completes inline.
struct CountingWriter final : PartitionWriter {
  explicit CountingWriter(int& count) : writes(count) {}
  void begin_read_forgotten(std::span<const UserRef>) override { ended = Status(); }
  void begin_apply(std::span<const ForgottenUpdate>, std::span<const FilterUpdate>) override { wrote(); }
  void begin_sync() override { wrote(); }
  void begin_advance(const MergedWatermark&) override { wrote(); }
  std::optional<Status> poll() override { return std::exchange(ended, std::nullopt); }
  std::vector<Forgotten> take_forgotten() override { return {}; }
  std::optional<int64_t> merged_ms() const override { return 42; }
  void wrote() {
    ++writes;
    ended = Status();
  }
  std::optional<Status> ended;
  int& writes;
};

}  // namespace

TEST_CASE(
    "lease: a stalled member sends no record until it has partitions again, and hears acknowledgements all the time") {
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
  int writes = 0;
  LeasedWriter leased(lease, std::make_unique<CountingWriter>(writes));
  // The codes of an apply, a sync, an advance and a read.
  const auto codes = [&] {
    std::vector<Code> ended;
    const auto end = [&] { ended.push_back(leased.poll().value().code()); };
    leased.begin_apply({}, {});
    end();
    leased.begin_sync();
    end();
    leased.begin_advance({});
    end();
    leased.begin_read_forgotten({});
    end();
    return ended;
  };
  lease.take();
  CHECK(codes() == std::vector(4, Code::kOk));
  CHECK(writes == 3);
  clock.advance_ms(kLengthMs);
  CHECK(codes() == std::vector{Code::kRetry, Code::kRetry, Code::kRetry, Code::kOk});
  CHECK(writes == 3);
  CHECK(leased.merged_ms() == 42);
}
