// A partition writer as one behind a network: an operation takes effect some polls after it began, and ends then.
//
// FAULT: a writer that is destroyed may carry out the operation under way or not, as a request may have left already.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "state/store/filter_writer.h"

namespace bloomring {

class DelayedWriter final : public PartitionWriter {
 public:
  // How many polls an operation takes; called at each. `writer` completes inline.
  DelayedWriter(std::unique_ptr<PartitionWriter> writer, std::function<uint64_t()> polls)
      : writer_(std::move(writer)), polls_(std::move(polls)) {}
  ~DelayedWriter() override {
    if (operation_ && polls_() % 2 == 0) operation_();
  }

  void begin_read_forgotten(std::span<const UserRef> users) override {
    begin([this, users] { writer_->begin_read_forgotten(users); });
  }
  void begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override {
    begin([this, forgotten, updates] { writer_->begin_apply(forgotten, updates); });
  }
  void begin_sync() override {
    begin([this] { writer_->begin_sync(); });
  }
  void begin_advance(const MergedWatermark& watermark) override {
    begin([this, watermark] { writer_->begin_advance(watermark); });
  }
  std::optional<Status> poll() override {
    if (!operation_) return std::nullopt;
    if (left_ > 0) {
      --left_;
      return std::nullopt;
    }
    std::exchange(operation_, nullptr)();
    return writer_->poll();
  }
  std::vector<Forgotten> take_forgotten() override { return writer_->take_forgotten(); }
  std::optional<int64_t> merged_ms() const override { return writer_->merged_ms(); }

 private:
  void begin(std::function<void()> operation) {
    BLOOMRING_CHECK(!operation_, "one operation at a time");
    operation_ = std::move(operation);
    left_ = polls_();
  }

  const std::unique_ptr<PartitionWriter> writer_;
  const std::function<uint64_t()> polls_;
  std::function<void()> operation_;
  uint64_t left_ = 0;
};

}  // namespace bloomring
