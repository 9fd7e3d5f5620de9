#include "pipeline/kafka/consumer/committer.h"

#include <span>

#include "base/log.h"

namespace bloomring::kafka {
namespace {

PartitionListHandle to_list(const CommitBoard::Commits& commits) {
  PartitionListHandle list(rd_kafka_topic_partition_list_new(static_cast<int>(commits.size())));
  for (const auto& [at, next] : commits) {
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition.value)->offset = next.value;
  }
  return list;
}

}  // namespace

Committer::Committer(rd_kafka_t* client, const Clock& clock, int interval_ms, CommitCounts& counts)
    : client_(client),
      clock_(clock),
      interval_ns_(int64_t{interval_ms} * 1'000'000),
      counts_(counts),
      results_(rd_kafka_queue_new(client)),
      sent_at_ns_(clock.steady_ns()) {}

void Committer::serve() {
  while (poll_result(0)) {
  }
  if (in_flight_ == 0 && clock_.steady_ns() - sent_at_ns_ >= interval_ns_) send();
}

void Committer::flush(int timeout_ms) {
  send();
  while (in_flight_ > 0 && poll_result(timeout_ms)) {
  }
}

void Committer::reset() {
  ++assignment_;
  board_.clear();
}

void Committer::send() {
  const auto commits = board_.take();
  if (commits.empty()) return;
  sent_at_ns_ = clock_.steady_ns();
  const auto list = to_list(commits);
  // With a queue that is read by events the result comes as one; the callback is not used.
  const auto error =
      rd_kafka_commit_queue(client_, list.get(), results_.get(), nullptr, reinterpret_cast<void*>(assignment_));
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++in_flight_;
    return;
  }
  ++counts_.failed;
  log_warning("kafka: a commit was not sent", {{"partitions", commits.size()},
                                               {"code", rd_kafka_err2name(error)},
                                               {"reason", rd_kafka_err2str(error)}});
  for (const auto& [at, next] : commits) board_.put_back(at, next);
}

bool Committer::poll_result(int timeout_ms) {
  const EventHandle event(rd_kafka_queue_poll(results_.get(), timeout_ms));
  if (!event) return false;
  if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_OFFSET_COMMIT) on_result(event.get());
  return true;
}

void Committer::on_result(rd_kafka_event_t* event) {
  --in_flight_;
  const auto whole = rd_kafka_event_error(event);
  const auto* list = rd_kafka_event_topic_partition_list(event);
  const bool ours = reinterpret_cast<uintptr_t>(rd_kafka_event_opaque(event)) == assignment_;
  bool failed = whole != RD_KAFKA_RESP_ERR_NO_ERROR;
  if (failed) {
    log_warning("kafka: a commit failed", {{"code", rd_kafka_err2name(whole)}, {"reason", rd_kafka_err2str(whole)}});
  }
  for (const auto& element : std::span(list->elems, static_cast<size_t>(list->cnt))) {
    if (whole == RD_KAFKA_RESP_ERR_NO_ERROR && element.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    failed = true;
    const TopicPartition at{element.topic, PartitionId(element.partition)};
    if (element.err != RD_KAFKA_RESP_ERR_NO_ERROR && element.err != whole) {
      log_warning("kafka: a commit failed", {{"topic", at.topic},
                                             {"partition", at.partition.value},
                                             {"code", rd_kafka_err2name(element.err)},
                                             {"reason", rd_kafka_err2str(element.err)}});
    }
    if (ours && element.offset >= 0) board_.put_back(at, Offset(element.offset));
  }
  ++(failed ? counts_.failed : counts_.succeeded);
}

}  // namespace bloomring::kafka
