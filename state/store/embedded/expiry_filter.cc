#include "state/store/embedded/expiry_filter.h"

#include <rocksdb/compaction_filter.h>

#include "base/hash.h"
#include "schemas/forgotten.h"
#include "state/rocksdb/rocks.h"

namespace bloomring {

namespace {

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  ExpiryFilter(const FilterLife& life, int64_t now_ms, std::atomic<uint64_t>& dropped)
      : life_(life), now_ms_(now_ms), dropped_(dropped) {}

  const char* Name() const override { return "bloomring.expiry.1"; }

  // Not Filter(): RocksDB does not show merge operands to it.
  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice& value, std::string*,
                    std::string*) const override {
    const bool kept =
        view(key).starts_with(kForgottenKeyTag) ? forgotten_kept(view(key), view(value)) : filter_kept(view(key));
    if (kept) return Decision::kKeep;
    ++dropped_;
    return Decision::kRemove;
  }

 private:
  bool filter_kept(std::string_view key) const {
    const auto parsed = parse_filter_key(key);
    return !parsed.ok() || life_.kept(*parsed, now_ms_);
  }
  // Kept as long as filters of the period of its newest time.
  bool forgotten_kept(std::string_view key, std::string_view value) const {
    const auto user_key = parse_forgotten_key(key);
    const auto forgotten = decode_forgotten(value, key);
    if (!user_key.ok() || !forgotten.ok()) return true;
    const PeriodIndex newest = life_.calendar().period_of_ms(forgotten->newest_ms());
    return life_.calendar().kept(user_hash(*user_key), newest, now_ms_);
  }

  const FilterLife& life_;
  const int64_t now_ms_;
  std::atomic<uint64_t>& dropped_;
};

class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  ExpiryFilterFactory(const FilterLife& life, const Clock& clock, std::atomic<uint64_t>& dropped)
      : life_(life), clock_(clock), dropped_(dropped) {}

  const char* Name() const override { return "bloomring.expiry.1"; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<ExpiryFilter>(life_, clock_.now_ms(), dropped_);
  }

 private:
  const FilterLife life_;
  const Clock& clock_;
  std::atomic<uint64_t>& dropped_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> make_expiry_filter(const FilterLife& life, const Clock& clock,
                                                                     std::atomic<uint64_t>& dropped) {
  return std::make_shared<ExpiryFilterFactory>(life, clock, dropped);
}

}  // namespace bloomring
