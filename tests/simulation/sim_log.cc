#include "tests/simulation/sim_log.h"

#include <algorithm>

namespace bloomring::simulation {

void SimLog::append(const std::string& topic, PartitionId to, std::string value) {
  put(topic, to, {topic, to, {}, std::move(value), {}});
}

void SimLog::put(const std::string& topic, PartitionId to, const OutRecord& record) {
  partition(topic, to).push_back({stamp_ms(topic), truth_.now_ms(), record.key, record.value, record.headers});
}

int64_t SimLog::stamp_ms(const std::string& topic) {
  const bool ahead = topic == ahead_topic && trouble > 0 && one_in(random_, 100);
  return clock_.now_ms() + (ahead ? static_cast<int64_t>(random_() % static_cast<uint64_t>(ahead_max_ms)) : 0);
}

void SimLog::append_gap(const std::string& topic, PartitionId to) {
  partition(topic, to).push_back({clock_.now_ms(), truth_.now_ms(), {}, {}, {}, true});
}

int64_t& SimLog::committed(const std::string& group, const std::string& topic, PartitionId at) {
  return commits_.try_emplace({group, topic, at.value}, -1).first->second;
}

void SimLog::arrive(InFlight& flight) {
  const OutRecord& record = flight.record;
  const int copies = trouble > 0 && one_in(random_, 50) ? 2 : 1;
  for (int i = 0; i < copies; ++i) put(record.topic, record.partition, record);
  if (auto acks = flight.acks.lock()) acks->push_back({flight.ticket, clock_.now_ms()});
}

void SimLog::pump() {
  if (trouble > 0 && one_in(random_, 10)) std::shuffle(in_flight_.begin(), in_flight_.end(), random_);
  std::vector<InFlight> later;
  for (InFlight& flight : in_flight_) {
    if (leaderless.contains({flight.record.topic, flight.record.partition.value})) {
      if (!flight.acks.expired()) later.push_back(std::move(flight));
    } else if (trouble > 0 && one_in(random_, 3)) {
      later.push_back(std::move(flight));
    } else if (!flight.acks.expired() || !one_in(random_, 2)) {
      arrive(flight);
    }
  }
  in_flight_ = std::move(later);
}

Status SimSink::send(OutRecord& record, uint64_t ticket) {
  size_t bytes = record.key.size() + record.value.size();
  for (const auto& [name, value] : record.headers) bytes += name.size() + value.size();
  const auto limit = log_.record_bytes_max.find(record.topic);
  if (limit != log_.record_bytes_max.end() && bytes > limit->second)
    return fatal("cannot write to " + record.topic + ": " + std::to_string(bytes) + " bytes are too many");
  const auto own = std::count_if(log_.in_flight_.begin(), log_.in_flight_.end(),
                                 [&](const auto& flight) { return flight.acks.lock() == acks_; });
  if (static_cast<size_t>(own) >= kQueueMax) return retry("the queue is full");
  log_.in_flight_.push_back({std::move(record), ticket, acks_});
  return {};
}

Status SimSink::poll_acks(std::vector<uint64_t>& tickets) {
  broker_time_ms_ = 0;
  for (const SimLog::Ack& ack : *acks_) {
    tickets.push_back(ack.ticket);
    broker_time_ms_ = std::max(broker_time_ms_, ack.log_time_ms);
  }
  acks_->clear();
  return {};
}

Result<std::optional<LogRecord>> SimSource::poll() {
  const auto& records = log_.partition(topic_, partition_);
  if (next_ < log_start().value) return fatal("retention passed the position");
  while (next_ < static_cast<int64_t>(records.size()) && records[static_cast<size_t>(next_)].gap) ++next_;
  if (next_ >= static_cast<int64_t>(records.size())) return std::optional<LogRecord>();
  // A fetch brings some records, not always all that are there.
  if (log_.trouble > 0 && one_in(log_.random_, 20)) return std::optional<LogRecord>();
  record_ = records[static_cast<size_t>(next_)];
  return std::optional<LogRecord>(LogRecord{Offset(next_++), record_.log_time_ms, record_.key, record_.value});
}

bool SimSource::at_end() const { return next_ >= log_end().value; }

Offset SimSource::log_end() const { return Offset(static_cast<int64_t>(log_.partition(topic_, partition_).size())); }

void SimSource::commit(Offset next) {
  if (log_.trouble > 0 && one_in(log_.random_, 10)) return;
  log_.committed(group_, topic_, partition_) = next.value;
}

}  // namespace bloomring::simulation
