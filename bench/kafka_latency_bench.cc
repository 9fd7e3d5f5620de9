// How long a record takes from send to acknowledgement and from send to the reader, at several linger.ms: the Kafka
// part of "play produced to play filtered".
//
//   kafka_latency_bench [BOOTSTRAP TOPIC]
//
// Without arguments: an embedded broker in this process. One record every 2 ms; prints a JSON line for each linger.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/embedded_broker.h"
#include "pipeline/kafka/producer/producer.h"

namespace {

using namespace bloomring;
using kafka::AssignedConsumer;

constexpr int kRecords = 2000;
constexpr int64_t kSpacingNs = 2'000'000;

template <typename T>
T must(Result<T> result) {
  BLOOMRING_CHECK(result.ok(), result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

double percentile_ms(std::vector<int64_t>& delays_ns, double share) {
  std::sort(delays_ns.begin(), delays_ns.end());
  return static_cast<double>(delays_ns[static_cast<size_t>(share * static_cast<double>(delays_ns.size() - 1))]) / 1e6;
}

void print(int linger_ms, const char* what, std::vector<int64_t>& delays_ns) {
  std::printf("{\"what\":\"%s\",\"linger_ms\":%d,\"p50_ms\":%.2f,\"p99_ms\":%.2f}\n", what, linger_ms,
              percentile_ms(delays_ns, 0.5), percentile_ms(delays_ns, 0.99));
}

// The record's value is the time it was sent; so is its ticket.
void measure(kafka::ClientSettings settings, const std::string& topic, int linger_ms) {
  settings.linger_ms = linger_ms;
  const SystemClock clock;
  const auto producer = must(kafka::Producer::create(settings));
  must(producer->verify_topic(topic, 0));
  const auto sink = producer->make_sink();
  const auto consumer = must(AssignedConsumer::create(settings, 1, clock));
  const kafka::TopicPartition at{topic, PartitionId(0)};
  const auto facts = must(consumer->facts(std::span(&at, 1)));
  const auto sources = must(consumer->assign(std::vector{AssignedConsumer::Start{at, facts[0].log_end}}));
  while (!sources[0]->at_end()) must(sources[0]->poll());
  std::vector<int64_t> acked, read;
  std::vector<uint64_t> tickets;
  int64_t next_ns = clock.steady_ns();
  for (int sent = 0; read.size() < kRecords || acked.size() < kRecords;) {
    const int64_t now_ns = clock.steady_ns();
    if (sent < kRecords && now_ns >= next_ns) {
      OutRecord out{.topic = topic, .partition = {}, .key = "", .value = std::string(8, 0), .headers = {}};
      std::memcpy(out.value.data(), &now_ns, sizeof now_ns);
      must(sink->send(out, static_cast<uint64_t>(now_ns)));
      next_ns += kSpacingNs;
      ++sent;
    }
    must(sink->poll_acks(tickets));
    for (const uint64_t ticket : tickets) acked.push_back(now_ns - static_cast<int64_t>(ticket));
    tickets.clear();
    while (const auto record = must(sources[0]->poll())) {
      int64_t sent_ns;
      std::memcpy(&sent_ns, record->value.data(), sizeof sent_ns);
      read.push_back(clock.steady_ns() - sent_ns);
    }
    // The producer's and the consumer's threads need the cores more than this loop does.
    must(consumer->poll(1));
  }
  print(linger_ms, "acknowledged", acked);
  print(linger_ms, "read", read);
}

}  // namespace

int main(int argc, char** argv) {
  std::unique_ptr<kafka::EmbeddedBroker> broker;
  kafka::ClientSettings settings{.bootstrap = argc > 2 ? argv[1] : "", .client_id = "bench"};
  if (argc <= 2) {
    broker = must(kafka::EmbeddedBroker::create());
    must(broker->create_topic("plays", 1));
    settings = broker->settings();
  }
  for (const int linger_ms : {0, 5, 20}) measure(settings, argc > 2 ? argv[2] : "plays", linger_ms);
}
