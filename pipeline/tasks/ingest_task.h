// The ingest stage's task of one process: plays from all assigned partitions in, event blocks and dead letters out.
//
// Blocks mix records of many source partitions, so the task keeps account of offsets: for each open or unacknowledged
// block it knows the first offset of each source partition in it.
//
// Event times are checked against the brokers' clock (operators/ingest_clock.h). The task reads nothing after an
// assignment until the brokers have reported their time: when there are records to read, it writes an event of no user
// and takes the time from its acknowledgement. It also reads nothing while this machine's clock differs from theirs by
// too much. While the brokers' time is known to lie between two bounds, plays are judged by the later one, and a block
// waits until the earlier one has passed its newest event: no play is moved before a forget that it followed, and none
// is logged before its time.
//
// Guarantees, held by the simulation, ingest_task_test, ingest_lanes_test and gaps_test:
//   - an offset is committed only when every block and dead letter made from records before it was acknowledged;
//   - a full send queue stops the reading; nothing is dropped;
//   - a partition of user-events that takes no records stops the reading for `lane_patience_ms` (ingest_lanes.h). After
//     that ingest passes over the plays of its users, and commits no offset after the first of them. When the partition
//     has taken the blocks that waited, ingest goes back to that offset and packs the plays that it had passed over;
//   - a partition of the dead letters that takes no records stops the reading until it takes them.
// Threading: see Task.
// Errors: see Task.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "operators/ingest.h"
#include "operators/ingest_clock.h"
#include "operators/refusal_watch.h"
#include "pipeline/io/io.h"
#include "pipeline/io/task.h"
#include "pipeline/tasks/ingest_lanes.h"
#include "schemas/topics.h"

namespace bloomring {

struct IngestTaskConfig {
  // The form of the records that are read.
  enum class Form : uint8_t {
    kJson,    // Plays of a site.
    kBlocks,  // Event blocks of another installation, or of another log. Without passing over partitions.
  };
  IngestConfig ingest;
  Form form = Form::kJson;
  uint32_t block_partitions = 1;  // Of the topic that has the blocks.
  // History: an event is judged by the time of its record in the log that is read, as when it was new. (Where that log
  // has no time, by the brokers' time.)
  bool history = false;
  std::string_view stage = "ingest";  // In dead letters. Refers to text that outlives the task.
  std::string events_topic = default_topic_name(TopicRole::kUserEvents);
  std::string dead_topic = default_topic_name(TopicRole::kDeadLetters);
  size_t records_per_step = 2048;
  // Blocks and dead letters that are sent and not yet acknowledged, without those of partitions that are passed over.
  size_t in_flight_max = 512;
  size_t lane_in_flight_max = 64;  // Of these, to one partition of user-events.
  int64_t lane_patience_ms = 5'000;
  int64_t commit_interval_ms = 1'000;
  int64_t clock_skew_max_ms = 60'000;  // How far this machine's clock and the brokers' may differ.
  int64_t ask_time_interval_ms = 1'000;
};

class IngestTask final : public Task {
 public:
  // `clock` outlives the task, which uses only its durations.
  IngestTask(IngestTaskConfig config, const Clock& clock, std::unique_ptr<Sink> sink);

  // Starts reading a partition of a plays topic from `start`.
  void add_source(std::string topic, PartitionId partition, Offset start, std::unique_ptr<Source> source);
  Result<bool> step(int64_t now_ms) override;

  // To give partitions back:
  // 1. `begin_release`;
  // 2. `step` until `released` (every event that was read is acknowledged) or the caller's bound has passed;
  // 3. `drop_sources`, which commits all offsets that may be committed.
  void begin_release() { releasing_ = true; }
  // Ignores blocks that wait for partitions that are passed over: they only hold back the last commits.
  bool released() const {
    return releasing_ && lanes_.queued() == 0 && lanes_.in_flight() == 0 && nothing_open();
  }
  // `lost`: the partitions belong to others already, so nothing is committed. The task drops records that the sink has
  // not taken. The next owner of the partitions, perhaps this task, reads them again and does not count them as
  // repeats.
  void drop_sources(bool lost);

  const Ingest& ingest() const { return ingest_; }
  const IngestClock& clock() const { return ingest_clock_; }
  // The first record that was refused since the last call, if any.
  std::optional<RefusedRecord> take_first_refused() { return std::exchange(first_refused_, std::nullopt); }
  size_t in_flight() const { return in_flight_.size(); }
  // The partitions of user-events whose users' plays are being passed over.
  std::vector<PartitionId> passed_over() const;

  // The state of one source partition, for metrics.
  struct SourceView {
    std::string topic;
    PartitionId partition;
    Offset next;       // Every record below it was taken.
    Offset committed;  // Where it began, before the first commit.
    Offset log_end;
  };
  std::vector<SourceView> sources() const;

 private:
  struct Input {
    std::string topic;
    PartitionId partition;
    std::unique_ptr<Source> source;
    Offset start;
    Offset committed{-1};
    int64_t read_to = 0;              // The offset after the last record ever read.
    // By partition of user-events: every play below it is packed. Empty when every play that was read is packed.
    std::vector<int64_t> unpacked{};
    Offset position() const { return std::max(start, source->position()); }
    // Every record below it was taken, or passed over.
    Offset next() const { return std::max(position(), Offset(read_to)); }
  };
  // By index of inputs_: the first offset that went in, or kNothing.
  using Firsts = std::vector<int64_t>;
  static constexpr int64_t kNothing = INT64_MAX;

  struct Outgoing {
    size_t lane;
    OutRecord record;
    Firsts firsts;
    int64_t not_before_ms = 0;  // Steady: until then the brokers' time may be before that of an event in it.
  };
  struct InFlight {
    size_t lane;
    Firsts firsts;
    int64_t sent_ms;      // Steady.
    bool tells_the_time;  // A record of user-events, which brokers stamp.
  };

  Status take_acks(int64_t wall_ms);
  Status read();
  void take_record(size_t input, const LogRecord& record);
  void take_block(size_t input, const LogRecord& record);
  void refuse(size_t input, const LogRecord& record, Refusal refusal, const std::string& detail);
  void note_packed(size_t input, const LogRecord& record, const Ingest::Outcome& taken);
  IngestTime time_of(const LogRecord& record) const;
  void enqueue(Outgoing outgoing);
  // True when ingest packs the play of the input's record at `offset`, which is for `partition`. Otherwise notes the
  // offset.
  bool wants(Input& input, int64_t offset, bool again, PartitionId partition);
  void caught_up(Input& input);
  void open_lanes();
  void shut_lanes();
  void ask_time(int64_t wall_ms);
  int64_t steady_ms() const { return clock_.steady_ns() / 1'000'000; }
  void note(Firsts& firsts, size_t input, Offset offset);
  void close_block(PartitionId partition);
  void close_due_blocks(int64_t now_ms);
  Status send_outbox();
  void commit();
  bool room() const { return lanes_.queued() == 0 && lanes_.in_flight() < config_.in_flight_max; }
  // Everything that was read is acknowledged.
  bool settled() const { return in_flight_.empty() && outbox_.empty() && nothing_open(); }
  bool nothing_open() const;
  bool more_to_read() const;

  IngestTaskConfig config_;
  const Clock& clock_;
  std::unique_ptr<Sink> sink_;
  IngestClock ingest_clock_;
  IngestTime judged_;         // Of this step...
  int64_t judged_at_ms_ = 0;  // ...at this steady time.
  Ingest ingest_;
  IngestLanes lanes_;
  std::vector<Input> inputs_;
  std::vector<Firsts> open_firsts_;                 // By partition of user-events: of its open block.
  std::vector<int64_t> open_not_before_ms_;         // As open_firsts_: Outgoing::not_before_ms.
  std::deque<Outgoing> outbox_;                     // Closed, not yet taken by the sink.
  std::unordered_map<uint64_t, InFlight> in_flight_;  // By ticket: sent, not yet acknowledged.
  uint64_t times_asked_ = 0;
  int64_t ask_time_at_ms_ = 0;  // Steady.
  uint64_t next_ticket_ = 1;
  size_t next_input_ = 0;  // Round robin over the inputs.
  std::optional<RefusedRecord> first_refused_;
  bool releasing_ = false;
  int64_t commit_due_ms_ = 0;
  bool worked_ = false;
  std::vector<uint64_t> acks_;
};

}  // namespace bloomring
