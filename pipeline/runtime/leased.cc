#include "pipeline/runtime/leased.h"

namespace bloomring {
namespace {

Status refusal() {
  return retry("the lease of this member has run out: nothing is written before it has joined again");
}

}  // namespace

Status LeasedSink::send(OutRecord& record, uint64_t ticket) {
  if (!lease_.held()) return refusal();
  return sink_->send(record, ticket);
}

Status LeasedFilterStore::apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) {
  if (!lease_.held()) return refusal();
  return store_.apply(forgotten, updates);
}

Status LeasedFilterStore::sync() {
  if (!lease_.held()) return refusal();
  return store_.sync();
}

Status LeasedFilterStore::advance(PartitionId partition, const MergedWatermark& watermark) {
  if (!lease_.held()) return refusal();
  return store_.advance(partition, watermark);
}

}  // namespace bloomring
