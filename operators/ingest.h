// The ingest stage's work: plays, serves and forgets as JSON in, event blocks by partition out.
//
// Each record is parsed, validated, hashed and packed into the open block of its user's partition; a block is closed by
// count, bytes or time. A repeat is dropped: the same kind, user, item and event time as an event that was packed
// shortly before. All later stages use only these four, so a dropped repeat changes no answer. A play of the same item
// at another time is no repeat: the user may have forgotten the item in between, by a call that ingest never sees.
//
// An event time that is ahead of the clock by up to a day counts as now, so no event in the log happened after it was
// logged. Otherwise a forget from a client whose clock is fast would also hide later plays. Events further ahead are
// refused.
//
// An event time in whole seconds leaves the moment within its second open. A play or a serve counts at the end of the
// second, or now if that is earlier, and a forget at its begin: so no forget takes a play of its second that came
// after it (docs/decisions/0039-a-play-is-judged-by-the-latest-time-it-may-be.md). A record that comes twice within its
// second is therefore no repeat.
//
// Steps are pure on records and times: no Kafka, no threads, no clock reads. The task keeps track of offsets.
// Threading: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/user_ref.h"
#include "operators/ingest_clock.h"
#include "schemas/event_block.h"
#include "schemas/json/play_json.h"

namespace bloomring {

// The event time that counts. A play or a serve has the latest time that it may have, and a forget the earliest: no
// forget takes a later play. A forget that is ahead counts as 1 ms before now, so that plays that arrive with it still
// count.
int64_t event_time_ms(const Play& play, const IngestTime& now);

struct IngestConfig {
  PlayMapping mapping;
  uint32_t partition_count = 1;
  size_t block_events = 4096;
  size_t block_bytes = 256 << 10;
  int64_t linger_ms = 50;
  bool drop_repeats = true;
  // Chooses the events that are packed; empty: all. For history, of which not every event counts any more.
  std::function<bool(const UserRef& user, const Event& event)> takes = {};
};

// Counts since the start, for metrics.
struct IngestStats {
  uint64_t accepted = 0;
  uint64_t repeats = 0;
  uint64_t refused[kRefusalCount] = {};
  uint64_t skipped[kSkipCount] = {};
  uint64_t ahead = 0;      // Events ahead of the clock by up to events.ahead_seconds, which count as now.
  uint64_t far_ahead = 0;  // By more than that, up to a day.
  uint64_t blocks = 0;
  uint64_t block_bytes = 0;

  uint64_t refused_in_all() const { return std::accumulate(std::begin(refused), std::end(refused), uint64_t{0}); }
  uint64_t skipped_in_all() const { return std::accumulate(std::begin(skipped), std::end(skipped), uint64_t{0}); }
};

class Ingest {
 public:
  explicit Ingest(IngestConfig config);

  struct Outcome {
    Refusal refusal = Refusal::kNone;  // Otherwise: write a dead letter with `detail()`.
    bool packed = false;               // False also for a repeat and for a skipped record.
    PartitionId partition;             // Its open block holds the play...
    int64_t time_ms = 0;               // ...with this event time.
    bool full = false;                 // That block should be closed now.
  };
  // Chooses the plays that `take` packs. A play of a partition that the gate holds back is neither packed nor
  // remembered, as if its record had not been read.
  struct Gate {
    bool again = false;  // The record was taken before: `take` counts its play when it packs it, and nothing else.
    std::function<bool(PartitionId)> lets_through;
  };
  // Valid until the next call. By reference: a copy reads in one piece the bytes that were written in several, so the
  // processor would wait for all earlier stores, among them the one into recent_, which mostly misses the caches.
  // `judge` is the time by which the event is judged, where it is not now: that of its record, in history.
  const Outcome& take(std::string_view json, const IngestTime& now, const Gate* gate = nullptr,
                      const IngestTime* judge = nullptr);
  const std::string& detail() const { return parser_.detail(); }
  // The same for an event of another log's event block. Its time is kept, or bounded as that of a play in JSON.
  const Outcome& take_event(const UserRef& user, const Event& event, const IngestTime& now, const IngestTime& judge);

  // Counts a block of another log that the task refuses.
  void count_refused(Refusal refusal) { ++stats_.refused[static_cast<size_t>(refusal)]; }

  // Closes the open block of the partition and returns its bytes; empty when nothing is in it.
  std::string close_block(PartitionId partition);
  // The partitions whose open block has lingered long enough at `now_ms`.
  const std::vector<PartitionId>& due(int64_t now_ms);
  bool block_open(PartitionId partition) const {
    return blocks_[static_cast<size_t>(partition.value)].builder.events() > 0;
  }
  // Drops the open blocks and the marks of repeats, so that records that are read again are packed again.
  void start_over();

  const IngestStats& stats() const { return stats_; }
  const IngestConfig& config() const { return config_; }

 private:
  struct OpenBlock {
    EventBlockBuilder builder;
    int64_t opened_ms = 0;
  };
  void count_ahead(int64_t time_ms, int64_t now_ms);
  bool is_repeat(uint64_t user_hash, const Event& event);
  // True when the event was packed; sets the outcome. The block is open since `now_ms` if it was empty.
  bool pack(const UserRef& user, PartitionId partition, const Event& event, int64_t now_ms);

  IngestConfig config_;
  PlayParser parser_;
  std::vector<OpenBlock> blocks_;  // By partition.
  std::vector<uint64_t> recent_;   // Direct-mapped marks of events; a newer one overwrites.
  std::vector<PartitionId> due_;
  std::string user_key_;
  int64_t earliest_open_ms_;  // No open block is older.
  Outcome outcome_;
  IngestStats stats_;
};

}  // namespace bloomring
