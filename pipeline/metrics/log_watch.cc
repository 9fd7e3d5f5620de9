#include "pipeline/metrics/log_watch.h"

#include "base/log.h"

namespace bloomring {

namespace {
constexpr int64_t kAskIntervalMs = 1'000;
constexpr int kAskTimeoutMs = 1'000;
constexpr int64_t kSilenceToldNs = 10'000'000'000;
constexpr const char* kOnlyCritical = "2";  // The other clients of the process log connection errors.
constexpr const char* kPart = "brokers";  // Of readiness.
constexpr size_t kQueueMemoryBytes = 1 << 20;  // Nothing is read.
}  // namespace

LogWatch::LogWatch(kafka::ClientSettings settings, const Clock& clock, Health& health)
    : settings_([&] {
        settings.queue_memory_bytes = kQueueMemoryBytes;
        settings.properties["log_level"] = kOnlyCritical;
        return std::move(settings);
      }()),
      clock_(clock),
      health_(health),
      last_answer_ns_(clock.steady_ns()),
      worker_(std::make_unique<Worker>("log-watch", clock, [](const Status&) {})) {
  worker_->set_ticker(kAskIntervalMs, [this] { ask(); });
}

LogWatch::~LogWatch() { worker_.reset(); }

void LogWatch::add(Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.insert(&listener);
}

void LogWatch::remove(Listener& listener) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(&listener);
}

int64_t LogWatch::silence_ns() const { return clock_.steady_ns() - last_answer_ns_; }

std::vector<kafka::TopicPartition> LogWatch::wanted() const {
  const std::lock_guard lock(mutex_);
  std::set<kafka::TopicPartition> all;
  for (const Listener* listener : listeners_) {
    for (kafka::TopicPartition& at : listener->wanted()) all.insert(std::move(at));
  }
  return {all.begin(), all.end()};
}

void LogWatch::report_end(const kafka::TopicPartition& at, Offset end, int64_t asked_at_ns) {
  const std::lock_guard lock(mutex_);
  for (Listener* listener : listeners_) listener->update_log_end(at, end, asked_at_ns);
}

void LogWatch::log_silence() {
  if (silence_ns() >= kSilenceToldNs && !silent_since_ns_) {
    silent_since_ns_ = last_answer_ns_.load();
    log_warning("kafka: no broker answers", {{"seconds", silence_ns() / 1'000'000'000}});
  } else if (silence_ns() < kSilenceToldNs && silent_since_ns_) {
    const int64_t silent_ns = last_answer_ns_.load() - *silent_since_ns_;
    log_warning("kafka: brokers answer again", {{"seconds", silent_ns / 1'000'000'000}});
    silent_since_ns_.reset();
    health_.clear(kPart);
  }
  if (silent_since_ns_) {
    health_.set_ready(kPart, "no broker of kafka.bootstrap has answered for " +
                                 std::to_string(silence_ns() / 1'000'000'000) +
                                 " s: the process reads and writes nothing meanwhile, and answers lack newer plays");
  }
}

void LogWatch::ask() {
  ask_ends();
  log_silence();
}

void LogWatch::ask_ends() {
  if (!consumer_) {
    auto made = kafka::AssignedConsumer::create(settings_, 1, clock_);
    if (!made.ok()) return log_warning("the ends of logs are not watched: " + made.status().to_string());
    consumer_ = std::move(*made);
  }
  if (const Status polled = consumer_->poll(0); !polled.ok()) log_debug("log watch: " + polled.to_string());
  const std::vector<kafka::TopicPartition> partitions = wanted();
  const int64_t asked_at_ns = clock_.steady_ns();
  if (partitions.empty()) {
    if (consumer_->answers(kAskTimeoutMs)) last_answer_ns_ = asked_at_ns;
    return;
  }
  const auto ends = consumer_->log_ends(partitions, kAskTimeoutMs);
  for (size_t i = 0; i < partitions.size(); ++i) {
    if (!ends[i].ok()) continue;
    last_answer_ns_ = asked_at_ns;
    report_end(partitions[i], *ends[i], asked_at_ns);
  }
}

}  // namespace bloomring
