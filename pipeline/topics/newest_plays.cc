#include "pipeline/topics/newest_plays.h"

#include <algorithm>
#include <memory>

#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/runtime/wait.h"

namespace bloomring {

namespace {

struct Tail {
  kafka::TopicPartition at;
  Offset end;
  std::unique_ptr<Source> source;
};

// A partition of a topic that was just made has no leader for a moment.
Result<std::vector<kafka::PartitionFacts>> ask_facts(kafka::AssignedConsumer& consumer,
                                                     const std::vector<kafka::TopicPartition>& all, int64_t bound_ms,
                                                     const Clock& clock) {
  std::vector<kafka::PartitionFacts> facts;
  Status why;
  const Status told = wait_until(clock, bound_ms, "the ends of the log", [&]() -> Result<bool> {
    auto found = consumer.facts(all);
    why = found.status();
    if (found.ok()) facts = std::move(*found);
    if (found.code() == Code::kRetry) return false;
    return found.ok() ? Result<bool>(true) : why;
  });
  if (!told.ok()) return why.ok() ? told : why;
  return facts;
}

// False when the partition has more.
Result<bool> read_tail(Tail& tail, std::vector<NewestPlay>& plays) {
  for (;;) {
    BLOOMRING_TRY_ASSIGN(const std::optional<LogRecord> record, tail.source->poll());
    if (!record) return tail.source->position() >= tail.end;
    if (record->offset >= tail.end) return true;
    plays.push_back({tail.at.partition, record->offset, std::string(record->value)});
  }
}

}  // namespace

Result<std::vector<NewestPlay>> newest_plays(const kafka::ClientSettings& kafka, const std::string& topic,
                                             uint32_t partitions, size_t count, int64_t bound_ms, const Clock& clock) {
  std::vector<kafka::TopicPartition> all;
  for (uint32_t p = 0; p < partitions; ++p) all.push_back({topic, PartitionId(static_cast<int32_t>(p))});
  BLOOMRING_TRY_ASSIGN(const auto consumer, kafka::AssignedConsumer::create(kafka, partitions, clock));
  BLOOMRING_TRY_ASSIGN(const auto facts, ask_facts(*consumer, all, bound_ms, clock));
  const auto filled = std::ranges::count_if(facts, [](const auto& one) { return one.log_end > one.log_start; });
  if (filled == 0) return std::vector<NewestPlay>();
  const auto each = static_cast<int64_t>((count + static_cast<size_t>(filled) - 1) / static_cast<size_t>(filled));
  std::vector<Tail> tails;
  std::vector<kafka::AssignedConsumer::Start> starts;
  for (size_t i = 0; i < all.size(); ++i) {
    if (facts[i].log_end <= facts[i].log_start) continue;
    starts.push_back({all[i], std::max(facts[i].log_start, Offset(facts[i].log_end.value - each))});
    tails.push_back({all[i], facts[i].log_end, nullptr});
  }
  BLOOMRING_TRY_ASSIGN(std::vector<std::unique_ptr<Source>> sources, consumer->assign(starts));
  for (size_t i = 0; i < tails.size(); ++i) tails[i].source = std::move(sources[i]);
  std::vector<NewestPlay> plays;
  const Status read = wait_until(clock, bound_ms, "the newest records of " + topic, [&]() -> Result<bool> {
    BLOOMRING_TRY(consumer->poll(0));
    bool done = true;
    for (Tail& tail : tails) {
      BLOOMRING_TRY_ASSIGN(const bool at_end, read_tail(tail, plays));
      done &= at_end;
    }
    return done;
  });
  tails.clear();  // Sources go before their consumer.
  if (!read.ok() && plays.empty()) return read;
  return plays;
}

}  // namespace bloomring
