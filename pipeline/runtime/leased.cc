#include "pipeline/runtime/leased.h"

#include <utility>

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

void LeasedWriter::begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) {
  refused_ = !lease_.held();
  if (!refused_) writer_->begin_apply(forgotten, updates);
}

void LeasedWriter::begin_sync() {
  refused_ = !lease_.held();
  if (!refused_) writer_->begin_sync();
}

void LeasedWriter::begin_advance(const MergedWatermark& watermark) {
  refused_ = !lease_.held();
  if (!refused_) writer_->begin_advance(watermark);
}

std::optional<Status> LeasedWriter::poll() {
  if (std::exchange(refused_, false)) return refusal();
  return writer_->poll();
}

}  // namespace bloomring
