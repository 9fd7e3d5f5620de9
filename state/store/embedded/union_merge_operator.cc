#include "state/store/embedded/union_merge_operator.h"

#include <rocksdb/merge_operator.h>

#include <deque>
#include <utility>
#include <vector>

#include "state/rocksdb/rocks.h"
#include "state/store/stored_union.h"

namespace bloomring {

namespace {

class UnionMergeOperator final : public rocksdb::MergeOperator {
 public:
  UnionMergeOperator(const filter::Policy& policy, const FilterLife& life, const Clock& clock,
                     std::atomic<uint64_t>& refused)
      : policy_(policy), life_(life), clock_(clock), refused_(refused) {}

  const char* Name() const override { return "bloomring.filter-union.1"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    std::vector<std::string_view> values;
    values.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) values.push_back(view(*in.existing_value));
    for (const rocksdb::Slice& operand : in.operand_list) values.push_back(view(operand));
    StoredUnion united = unite_stored(values, view(in.key), policy_, closed(view(in.key)));
    refused_ += united.refused;
    out->new_value = std::move(united.value);
    return true;
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands, std::string* out,
                         rocksdb::Logger*) const override {
    std::vector<std::string_view> values;
    values.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) values.push_back(view(operand));
    StoredUnion united = unite_stored_operands(values, view(key));
    refused_ += united.refused;
    *out = std::move(united.value);
    return true;
  }

 private:
  bool closed(std::string_view key) const {
    const auto parsed = parse_filter_key(key);
    return parsed.ok() && life_.closed(*parsed, clock_.now_ms());
  }

  const filter::Policy policy_;
  const FilterLife life_;
  const Clock& clock_;
  std::atomic<uint64_t>& refused_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> make_union_merge_operator(const filter::Policy& policy, const FilterLife& life,
                                                                  const Clock& clock, std::atomic<uint64_t>& refused) {
  return std::make_shared<UnionMergeOperator>(policy, life, clock, refused);
}

}  // namespace bloomring
