// The window stage's task of one partition: user-events in, batches of each view out.
//
// One step:
// 1. take acknowledgements;
// 2. apply a bounded number of blocks;
// 3. seal a quiet hour;
// 4. read the merged watermarks, release the hours and commit the offset that they allow;
// 5. advance a drain of each view.
//
// Guarantees, each a law of the simulation:
//   - a slot end is sent only after every batch of its drain was acknowledged, summed with the key of the view's store;
//   - the committed offset is at most the merged watermark's of each view;
//   - a record that is not an event block is acknowledged in the dead-letter topic before its offset counts as applied.
// While the store of a view is away, plays still go into their slots and no drain of the view starts, so its sealed
// slots queue. When it is back, the task drains them one after the other, paced (operators/window.h).
// Threading: see Task.
// Errors: see Task. These stop the task:
// - a sink or a store that cannot write at all;
// - a log that lost unread records, or is another one than before: the message has the number lost and the way out;
// - a store that was restored from a backup: the next start reads the log from its older watermark.
#pragma once

#include <cstdint>
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
#include "schemas/topics.h"
#include "state/store/watermark_reader.h"
#include "state/window/window_store.h"

namespace bloomring {

// The brokers' facts about a view's topic of batches, which another thread asks for.
class BatchesWatch {
 public:
  virtual ~BatchesWatch() = default;
  virtual BatchesLog of(PartitionId partition) const = 0;
};

struct WindowTaskConfig {
  WindowConfig window;
  std::string stage = "window";  // As dead letters name it.
  std::string events_topic = default_topic_name(TopicRole::kUserEvents);
  std::string dead_topic = default_topic_name(TopicRole::kDeadLetters);
  size_t blocks_per_step = 64;
  size_t in_flight_max = 256;           // Records of a drain that are sent and not yet acknowledged.
  int64_t watermark_interval_ms = 500;  // How often the merged watermarks are read.
  int64_t flush_interval_ms = 30'000;   // How often the window store is flushed: bounds what a crash re-reads.
};

// Where the batches of a view go and where its watermark comes from. Both objects outlive the task.
struct ViewLog {
  std::string batches_topic;
  WatermarkReader* watermarks = nullptr;
  const BatchesWatch* watch = nullptr;  // Without it the unread part of the topic is unknown.
};

class WindowTask final : public PartitionTask {
 public:
  // `clock` outlives the task; only durations of it are used. `window` is open on the store, and `views` are its views
  // in order.
  WindowTask(WindowTaskConfig config, const Clock& clock, std::unique_ptr<WindowStore> store, Window window,
             std::vector<ViewLog> views, std::unique_ptr<Source> source, std::unique_ptr<Sink> sink);

  Result<bool> step(int64_t now_ms) override;
  // Makes the local state durable before a planned stop.
  Status close() override { return flush(); }

  const Window& window() const { return window_; }
  const Source& source() const { return *source_; }
  // Every record below it was applied, or its dead letter is durable.
  Offset position() const;
  Offset committed() const { return committed_; }  // -1 before the first commit.
  // The least offset of the views' watermarks as last read; -1 while one of them has none.
  Offset merged() const;
  uint64_t dead_letters() const { return letters_.letters(); }
  // How long the filling slot has held records in this task, in ms; 0 while it holds none.
  int64_t filling_age_ms() const { return filling_hour_ ? steady_ms() - filling_since_ms_ : 0; }

 private:
  enum class Ticket : uint64_t { kBatch, kSlotEnd, kDeadLetter };
  static constexpr uint64_t kTicketKinds = 4;
  static uint64_t ticket(uint64_t drain_id, Ticket kind) {
    return drain_id * kTicketKinds + static_cast<uint64_t>(kind);
  }
  struct ViewProgress {
    ViewLog log;
    BatchesLog batches = {};    // From before the last watermark read: merge moves the watermark first.
    Offset merged{-1};          // The watermark's offset as last read.
    bool store_away = false;    // The last read of the watermark failed.
  };

  Status take_acks();
  Result<std::optional<LogRecord>> next_record();
  Status compare(const LogRecord& again);
  Status apply_blocks(int64_t now_ms);
  Status apply_block(const LogRecord& record, int64_t now_ms);
  Status take_watermarks(int64_t now_ms);
  Status take_watermark(size_t view);
  void commit_merged();
  Status seal_quiet_hour(int64_t now_ms);
  void take_drain_ack(uint64_t drain_id, Ticket kind);
  Status carry_drain(size_t view);
  Status send_outbox(const ViewLog& log, DrainProgress& drain);
  Status send_slot_end(const ViewLog& log, DrainProgress& drain);
  void follow_filling();
  Status flush_if_due(int64_t now_ms);
  Status flush();

  int64_t steady_ms() const { return clock_.steady_ns() / 1'000'000; }

  WindowTaskConfig config_;
  const Clock& clock_;
  std::unique_ptr<WindowStore> store_;
  std::unique_ptr<Source> source_;
  std::unique_ptr<Sink> sink_;
  Window window_;
  LogClock log_clock_;
  std::vector<ViewProgress> views_;

  std::optional<HourIndex> filling_hour_;  // If it has records.
  int64_t filling_since_ms_ = 0;           // Steady.

  DeadLetterGate letters_;

  Offset committed_{-1};
  int64_t watermark_due_ms_ = 0;
  int64_t flush_due_ms_ = 0;
  bool worked_ = false;
  std::vector<uint64_t> acks_;
};

}  // namespace bloomring
