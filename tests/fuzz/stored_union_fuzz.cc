// Several values of one filter key, some of them damaged, through RocksDB's merge operator: a merge never fails, counts
// what it refuses once, remembers that it refused some, and loses nothing of the good ones.
#include <rocksdb/merge_operator.h>

#include <atomic>
#include <deque>
#include <vector>

#include "base/clock.h"
#include "schemas/damaged_value.h"
#include "schemas/pieces/bytes.h"
#include "schemas/store_key.h"
#include "state/store/embedded/union_merge_operator.h"
#include "tests/fuzz/filter_input.h"

using namespace bloomring;
using namespace bloomring::filter;

namespace {

constexpr size_t kValuesMax = 6;
constexpr int64_t kDayMs = 24LL * 60 * 60 * 1000;
const std::string kKey = filter_key(UserKey("feed", "u1").bytes(), PeriodUnit::kMonth, PeriodIndex(0));

class FixedClock final : public Clock {
 public:
  explicit FixedClock(int64_t now_ms) : now_ms_(now_ms) {}
  int64_t now_ms() const override { return now_ms_; }
  int64_t steady_ns() const override { return 0; }

 private:
  int64_t now_ms_;
};

// How a value is: 0 as it stands, 1 with the checksum that fits, 2 the same as the good part of a damaged value.
std::string value_of(uint8_t kind, std::string_view body) {
  if (kind % 3 == 0) return std::string(body);
  std::string value = signed_value(body, kKey);
  if (kind % 3 == 1) return value;
  Damage damage;
  damage.note("of the test");
  return encode_damaged(damage, value);
}

// The good part of a value: all of it, its good part, or nothing.
std::string_view good_part(std::string_view value) {
  Damage damage;
  const std::string_view part = is_damaged(value) ? open_damaged(value, damage) : value;
  return !part.empty() && summarize(part, kKey).ok() ? part : std::string_view();
}

struct Inputs {
  Policy policy;
  bool closed = false;
  std::deque<std::string> values;
};

// The policy (3 bytes), then values: kind (1 byte), length (2 bytes), bytes.
Inputs inputs_of(std::string_view bytes) {
  ByteReader in(bytes);
  Inputs inputs;
  inputs.policy.false_positive_rate = 0.1 / (1 + in.u8());
  inputs.policy.periods_read = 1 + in.u8() % 64;
  const uint8_t form = in.u8();
  inputs.policy.dense_from_items = form % 128;
  inputs.closed = form >= 128;
  while (in.left() > 0 && inputs.values.size() < kValuesMax) {
    const uint8_t kind = in.u8();
    const size_t length = in.u8() | in.u8() << 8;
    inputs.values.push_back(value_of(kind, in.raw(std::min(length, in.left()))));
  }
  return inputs;
}

void expect_sound(const std::string& united, const std::deque<std::string>& values) {
  const bool sound = check_stored(united, kKey).ok();
  BLOOMRING_CHECK(!sound || summarize(united, kKey).ok(), "a union is a filter, or says that it is damaged");
  bool all_good = true;
  for (const std::string& value : values) {
    const std::string_view part = good_part(value);
    all_good = all_good && !part.empty() && !is_damaged(value);
    if (!part.empty()) expect_covers(good_part(united), part, kKey);
  }
  BLOOMRING_CHECK(sound == all_good, "damage is remembered, and only damage");
}

struct Merger {
  std::atomic<uint64_t> refused{0};
  FixedClock clock;
  std::shared_ptr<rocksdb::MergeOperator> merge;

  Merger(const Policy& policy, bool closed) : clock(closed ? 100 * kDayMs : kDayMs) {
    static const FilterLife kLife(Calendar::create({}).value());
    merge = make_union_merge_operator(policy, kLife, clock, refused);
  }

  // The first value as the stored one, the others as operands.
  std::string full(const std::vector<rocksdb::Slice>& values) {
    const std::vector<rocksdb::Slice> operands(values.begin() + 1, values.end());
    const rocksdb::Slice key(kKey);
    const rocksdb::MergeOperator::MergeOperationInput in(key, &values.front(), operands, nullptr);
    std::string united;
    rocksdb::Slice existing(nullptr, 0);
    rocksdb::MergeOperator::MergeOperationOutput out(united, existing);
    BLOOMRING_CHECK(merge->FullMergeV2(in, &out), "a merge never fails");
    return united;
  }

  std::string partial(const std::deque<rocksdb::Slice>& operands) {
    std::string united;
    BLOOMRING_CHECK(merge->PartialMergeMulti(kKey, operands, &united, nullptr), "a merge never fails");
    return united;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Inputs inputs = inputs_of({reinterpret_cast<const char*>(data), size});
  if (inputs.values.empty()) return 0;
  Merger merger(inputs.policy, inputs.closed);
  const std::string united = merger.full({inputs.values.begin(), inputs.values.end()});
  expect_sound(united, inputs.values);
  const uint64_t refused = merger.refused;
  BLOOMRING_CHECK(refused <= 2 * inputs.values.size(), "a value counts once, and a damaged one also for its part");
  const std::string again = merger.full({united});
  BLOOMRING_CHECK(merger.refused == refused, "what was refused is not refused again");
  BLOOMRING_CHECK(check_stored(again, kKey).ok() == check_stored(united, kKey).ok(), "and not forgotten");

  // In two steps, as compactions do it: operands first, then with the stored value.
  const std::string operands = merger.partial({inputs.values.begin(), inputs.values.end()});
  expect_sound(operands, inputs.values);
  expect_sound(merger.full({united, operands}), inputs.values);
  return 0;
}
