// The window stage's task of one partition: user-events in, user-batches out.
//
// One step: hear what became durable, apply a bounded number of blocks, let a quiet hour seal, take up the merged
// watermark (release hours, commit the offset it allows), carry a drain forward.
//
// Guarantees, each a law of the simulation:
//   - a slot end is sent only after every batch of its drain was acknowledged;
//   - the committed offset is the merged watermark's, never beyond it;
//   - a record that is no event block is in the dead-letter topic, acknowledged, before its offset counts as applied.
// While the filter store is away plays keep flowing into their slots and no drain is started: slots queue. When it is
// back they are drained one after the other, paced (operators/window.h).
// Threading and failure: see Task. A sink that cannot write at all, or a store that cannot, stops the task. So does a
// log that has lost what was not read yet or is another one than before, with the number of records lost and the way
// out; and a filter store that went back to a backup: the next start reads the log from its older watermark.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "operators/log_clock.h"
#include "operators/window.h"
#include "pipeline/io/io.h"
#include "pipeline/io/task.h"
#include "state/store/filter_store.h"
#include "state/window/window_store.h"

namespace bloomring {

// What the brokers say of user-batches; asked by another thread.
class BatchesWatch {
 public:
  virtual ~BatchesWatch() = default;
  virtual BatchesLog of(PartitionId partition) const = 0;
};

struct WindowTaskConfig {
  WindowConfig window;
  std::string events_topic = "user-events";
  std::string batches_topic = "user-batches";
  std::string dead_topic = "plays-dead";
  size_t blocks_per_step = 64;
  size_t in_flight_max = 256;           // Records of a drain that are sent and not yet acknowledged.
  int64_t watermark_interval_ms = 500;  // How often the merged watermark is read.
  int64_t flush_interval_ms = 30'000;   // How often the window store is flushed: bounds what a crash re-reads.
};

class WindowTask final : public PartitionTask {
 public:
  // `clock`, `filters` and `batches` outlive the task; of the clock only durations are used. `ring` as
  // decide_window_start and the store's state say. Without `batches` nothing is known of what stands there unread.
  WindowTask(WindowTaskConfig config, const Clock& clock, std::unique_ptr<WindowStore> store, Ring ring,
             FilterStore& filters, std::unique_ptr<Source> source, std::unique_ptr<Sink> sink,
             const BatchesWatch* batches = nullptr);

  Result<bool> step(int64_t now_ms) override;
  // Makes the local state durable: before a planned stop.
  Status close() override { return store_->flush(); }

  const Window& window() const { return window_; }
  const Source& source() const { return *source_; }
  // Every record below it was applied, or its dead letter is durable.
  Offset position() const;
  Offset committed() const { return committed_; }  // -1 before the first commit.
  Offset merged() const { return merged_; }        // The watermark's offset as last read, -1 when there is none.
  uint64_t dead_letters() const { return dead_letters_; }
  // Since when the filling slot holds records, as far as this task has seen, in ms; 0 while it holds none.
  int64_t filling_age_ms() const { return filling_hour_ ? steady_ms() - filling_since_ms_ : 0; }

 private:
  enum class Ticket : uint64_t { kBatch, kSlotEnd, kDeadLetter };
  static constexpr uint64_t kTicketKinds = 4;
  uint64_t ticket(Ticket kind) const { return drain_id_ * kTicketKinds + static_cast<uint64_t>(kind); }

  Status take_acks();
  Result<std::optional<LogRecord>> next_record();
  Status compare(const LogRecord& again);
  Status apply_blocks(int64_t now_ms);
  Status apply_block(const LogRecord& record, int64_t now_ms);
  Status take_watermark(int64_t now_ms);
  Status seal_quiet_hour(int64_t now_ms);
  Status carry_drain();
  Status send_outbox();
  Status send_slot_end();
  void follow_drain();
  void follow_filling();
  Status flush_if_due(int64_t now_ms);

  int64_t steady_ms() const { return clock_.steady_ns() / 1'000'000; }

  WindowTaskConfig config_;
  const Clock& clock_;
  LogClock log_clock_;
  std::unique_ptr<WindowStore> store_;
  FilterStore& filters_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  Window window_;
  const BatchesWatch* batches_;
  BatchesLog batches_log_;  // As it was before the watermark was last read: who reads a slot end moves that first.

  std::optional<HourIndex> filling_hour_;  // That holds records.
  int64_t filling_since_ms_ = 0;           // Steady.

  // The drain under way (0: none): what is to be sent, and how much of what was sent is not acknowledged.
  uint64_t drain_id_ = 0;
  std::deque<OutRecord> outbox_;
  size_t unacknowledged_ = 0;
  bool slot_end_sent_ = false;

  // A refused record whose dead letter is not acknowledged yet: nothing is read meanwhile.
  struct Refused {
    OutRecord letter;
    Offset offset;
    int64_t log_time_ms;
    bool sent = false;
  };
  std::unique_ptr<Refused> refused_;
  uint64_t dead_letters_ = 0;

  Offset committed_{-1};
  Offset merged_{-1};
  bool store_away_ = false;  // The watermark could not be read when it was last asked for.
  int64_t watermark_due_ms_ = 0;
  int64_t flush_due_ms_ = 0;
  bool worked_ = false;
  std::vector<uint64_t> acks_;
  std::vector<std::string> records_;
};

}  // namespace bloomring
