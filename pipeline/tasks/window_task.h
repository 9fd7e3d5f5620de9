// The window stage's task of one partition: user-events in, user-batches out.
//
// One step:
// 1. take acknowledgements;
// 2. apply a bounded number of blocks;
// 3. seal a quiet hour;
// 4. read the merged watermark, release the hours and commit the offset that it allows;
// 5. advance a drain.
//
// Guarantees, each a law of the simulation:
//   - a slot end is sent only after every batch of its drain was acknowledged;
//   - the committed offset is at most the merged watermark's;
//   - a record that is not an event block is acknowledged in the dead-letter topic before its offset counts as applied.
// While the filter store is away, plays still go into their slots and no drain starts, so sealed slots queue. When it
// is back, the task drains them one after the other, paced (operators/window.h).
// Threading: see Task.
// Errors: see Task. These stop the task:
// - a sink or a store that cannot write at all;
// - a log that lost unread records, or is another one than before: the message has the number lost and the way out;
// - a filter store that was restored from a backup: the next start reads the log from its older watermark.
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
#include "pipeline/tasks/dead_letter.h"
#include "state/store/filter_reader.h"
#include "state/window/window_store.h"

namespace bloomring {

// The brokers' facts about user-batches, which another thread asks for.
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
  // `clock`, `filters` and `batches` outlive the task; of the clock only durations are used. `ring` follows
  // decide_window_start and the store's state. Without `batches` the unread part of user-batches is unknown.
  WindowTask(WindowTaskConfig config, const Clock& clock, std::unique_ptr<WindowStore> store, Ring ring,
             FilterReader& filters, std::unique_ptr<Source> source, std::unique_ptr<Sink> sink,
             const BatchesWatch* batches = nullptr);

  Result<bool> step(int64_t now_ms) override;
  // Makes the local state durable before a planned stop.
  Status close() override { return store_->flush(); }

  const Window& window() const { return window_; }
  const Source& source() const { return *source_; }
  // Every record below it was applied, or its dead letter is durable.
  Offset position() const;
  Offset committed() const { return committed_; }  // -1 before the first commit.
  Offset merged() const { return merged_; }        // The watermark's offset as last read, -1 when there is none.
  uint64_t dead_letters() const { return letters_.letters(); }
  // How long the filling slot has held records in this task, in ms; 0 while it holds none.
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
  FilterReader& filters_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  Window window_;
  const BatchesWatch* batches_;
  BatchesLog batches_log_;  // From before the last watermark read: merge moves the watermark first.

  std::optional<HourIndex> filling_hour_;  // If it has records.
  int64_t filling_since_ms_ = 0;           // Steady.

  // The current drain (0: none), its records to send, and the number of sent records that are not acknowledged.
  uint64_t drain_id_ = 0;
  std::deque<OutRecord> outbox_;
  size_t unacknowledged_ = 0;
  bool slot_end_sent_ = false;

  DeadLetterGate letters_;

  Offset committed_{-1};
  Offset merged_{-1};
  bool store_away_ = false;  // The last read of the watermark failed.
  int64_t watermark_due_ms_ = 0;
  int64_t flush_due_ms_ = 0;
  bool worked_ = false;
  std::vector<uint64_t> acks_;
  std::vector<std::string> records_;
};

}  // namespace bloomring
