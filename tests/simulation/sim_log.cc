#include "tests/simulation/sim_log.h"

#include <algorithm>

namespace bloomring::simulation {

void SimLog::append(const std::string& topic, PartitionId to, std::string value) {
  partition(topic, to).push_back({clock_.now_ms(), {}, std::move(value), {}});
}

int64_t& SimLog::committed(const std::string& group, const std::string& topic, PartitionId at) {
  return commits_.try_emplace({group, topic, at.value}, -1).first->second;
}

void SimLog::arrive(InFlight& flight) {
  const OutRecord& record = flight.record;
  auto& records = partition(record.topic, record.partition);
  const int copies = trouble > 0 && one_in(random_, 50) ? 2 : 1;
  for (int i = 0; i < copies; ++i) records.push_back({clock_.now_ms(), record.key, record.value, record.headers});
  if (auto acks = flight.acks.lock()) acks->push_back(flight.ticket);
}

void SimLog::pump() {
  if (trouble > 0 && one_in(random_, 10)) std::shuffle(in_flight_.begin(), in_flight_.end(), random_);
  std::vector<InFlight> later;
  for (InFlight& flight : in_flight_) {
    if (trouble > 0 && one_in(random_, 3)) {
      later.push_back(std::move(flight));
    } else if (!flight.acks.expired() || !one_in(random_, 2)) {
      arrive(flight);
    }
  }
  in_flight_ = std::move(later);
}

Status SimSink::send(OutRecord& record, uint64_t ticket) {
  const auto own = std::count_if(log_.in_flight_.begin(), log_.in_flight_.end(),
                                 [&](const auto& flight) { return flight.acks.lock() == acks_; });
  if (static_cast<size_t>(own) >= kQueueMax) return retry("the queue is full");
  log_.in_flight_.push_back({std::move(record), ticket, acks_});
  return {};
}

Status SimSink::poll_acks(std::vector<uint64_t>& tickets) {
  tickets.insert(tickets.end(), acks_->begin(), acks_->end());
  acks_->clear();
  return {};
}

Result<std::optional<LogRecord>> SimSource::poll() {
  const auto& records = log_.partition(topic_, partition_);
  if (next_ >= static_cast<int64_t>(records.size())) return std::optional<LogRecord>();
  // A fetch brings some records, not always all that are there.
  if (log_.trouble > 0 && one_in(log_.random_, 20)) return std::optional<LogRecord>();
  const StoredRecord& record = records[static_cast<size_t>(next_)];
  return std::optional<LogRecord>(LogRecord{Offset(next_++), record.log_time_ms, record.key, record.value});
}

bool SimSource::at_end() const { return next_ >= log_end().value; }

Offset SimSource::log_end() const { return Offset(static_cast<int64_t>(log_.partition(topic_, partition_).size())); }

void SimSource::commit(Offset next) {
  if (log_.trouble > 0 && one_in(log_.random_, 10)) return;
  log_.committed(group_, topic_, partition_) = next.value;
}

}  // namespace bloomring::simulation
