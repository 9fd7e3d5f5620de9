// The rate at which AssignedConsumer reads a raw topic, and what it costs: the reference for ingest's budget.
//
//   kafka_read_bench [BOOTSTRAP TOPIC PARTITIONS]
//
// Without arguments it fills and reads an embedded broker in a process of its own (so that the CPU counted is the
// client's), as much as that keeps. With arguments it fills the topic, which has to exist, with 10 million records.
// Prints one JSON line for writing and one for each of three rounds of reading.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/embedded_broker.h"
#include "pipeline/kafka/producer/producer.h"

namespace {

using namespace bloomring;
using kafka::AssignedConsumer;

constexpr int kEmbeddedPartitions = 64;
constexpr int64_t kEmbeddedRecords = int64_t{kEmbeddedPartitions} * 50'000;  // zstd: below 5 MiB a partition.
constexpr int64_t kRealRecords = 10'000'000;
constexpr int kRounds = 3;
constexpr int kBatch = 1000;

struct Target {
  kafka::ClientSettings settings;
  std::string topic;
  int32_t partitions;
  int64_t records;
};

template <typename T>
T must(Result<T> result) {
  BLOOMRING_CHECK(result.ok(), result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

double cpu_us() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

// Rates since it was made, as a line of JSON.
class Meter {
 public:
  void print(const char* what, int64_t records, int64_t bytes) const {
    const double seconds = static_cast<double>(clock_.steady_ns() - start_ns_) / 1e9;
    const auto count = static_cast<double>(records);
    std::printf(
        "{\"what\":\"%s\",\"records\":%lld,\"bytes_per_record\":%.0f,\"records_per_s\":%.0f,"
        "\"cpu_us_per_record\":%.3f}\n",
        what, static_cast<long long>(records), static_cast<double>(bytes) / count, count / seconds,
        (cpu_us() - start_cpu_us_) / count);
    std::fflush(stdout);
  }

 private:
  SystemClock clock_;
  const int64_t start_ns_ = clock_.steady_ns();
  const double start_cpu_us_ = cpu_us();
};

// A play of about 150 bytes, from one of a million users on one of a hundred thousand items.
std::string play(uint64_t number) {
  const uint64_t mixed = number * 0x9E3779B97F4A7C15ull;
  return "{\"user\":\"u" + std::to_string(mixed % 1'000'000) + "\",\"item\":\"v" +
         std::to_string((mixed >> 20) % 100'000) + "\",\"time\":" + std::to_string(1'649'314'823'123 + number) +
         ",\"scene\":\"feed\",\"event\":\"play\",\"progress_ms\":" + std::to_string(mixed % 90'000) +
         ",\"duration_ms\":" + std::to_string(90'000 + mixed % 7'000) + ",\"device\":\"android\"}";
}

void write(const Target& target) {
  const auto producer = must(kafka::Producer::create(target.settings));
  must(producer->verify_topic(target.topic, target.partitions));
  const auto sink = producer->make_sink();
  std::vector<uint64_t> tickets;
  int64_t bytes = 0;
  const Meter meter;
  for (int64_t i = 0; i < target.records; ++i) {
    OutRecord out{.topic = target.topic,
                  .partition = PartitionId(static_cast<int32_t>(i / kBatch % target.partitions)),
                  .key = "u" + std::to_string(i % 100'000'000),
                  .value = play(static_cast<uint64_t>(i)),
                  .headers = {}};
    bytes += static_cast<int64_t>(out.value.size());
    while (sink->send(out, 0).code() == Code::kRetry) {
      static_cast<void>(producer->flush(1));  // Waits a millisecond, so that spinning does not count as work.
    }
    if (i % kBatch != 0) continue;
    tickets.clear();
    must(sink->poll_acks(tickets));
  }
  must(producer->flush(60'000));
  meter.print("write", target.records, bytes);
}

int64_t read_batch(Source& source, int64_t& bytes) {
  int64_t records = 0;
  while (records < kBatch) {
    const auto record = must(source.poll());
    if (!record) break;
    bytes += static_cast<int64_t>(record->value.size());
    ++records;
  }
  return records;
}

void read(const Target& target) {
  const SystemClock clock;
  const auto consumer = must(AssignedConsumer::create(target.settings, static_cast<size_t>(target.partitions), clock));
  std::vector<kafka::TopicPartition> partitions;
  std::vector<AssignedConsumer::Start> starts;
  for (int32_t p = 0; p < target.partitions; ++p) partitions.push_back({target.topic, PartitionId(p)});
  const auto facts = must(consumer->facts(partitions));
  int64_t expected = 0;
  for (size_t p = 0; p < partitions.size(); ++p) {
    starts.push_back({partitions[p], facts[p].log_start});
    expected += facts[p].log_end.value - facts[p].log_start.value;
  }
  int64_t records = 0, bytes = 0;
  const Meter meter;
  const auto sources = must(consumer->assign(starts));
  while (records < expected) {
    const int64_t before = records;
    for (const auto& source : sources) records += read_batch(*source, bytes);
    if (records == before) must(consumer->poll(1));
  }
  meter.print("read", records, bytes);
}

void run(const Target& target) {
  write(target);
  for (int round = 0; round < kRounds; ++round) read(target);
}

// The broker's process: tells its address, ends when the other end of the pipe does.
[[noreturn]] void serve(int tell, int until) {
  {
    const auto broker = must(kafka::EmbeddedBroker::create());
    must(broker->create_topic("plays", kEmbeddedPartitions));
    const std::string address = broker->bootstrap() + "\n";
    BLOOMRING_CHECK(::write(tell, address.data(), address.size()) > 0, "pipe");
    char byte;
    while (::read(until, &byte, 1) > 0) {
    }
  }
  _exit(0);
}

int run_embedded() {
  int address[2], life[2];
  BLOOMRING_CHECK(pipe(address) == 0 && pipe(life) == 0, "pipe");
  const pid_t broker = fork();
  if (broker == 0) {
    close(life[1]);
    serve(address[1], life[0]);
  }
  char bootstrap[64] = "";
  const ssize_t size = ::read(address[0], bootstrap, sizeof bootstrap - 1);
  BLOOMRING_CHECK(size > 0, "the broker did not start");
  bootstrap[size - 1] = '\0';
  run({.settings = {.bootstrap = bootstrap, .client_id = "bench"},
       .topic = "plays",
       .partitions = kEmbeddedPartitions,
       .records = kEmbeddedRecords});
  close(life[1]);
  waitpid(broker, nullptr, 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return run_embedded();
  if (argc != 4) {
    std::fprintf(stderr, "usage: kafka_read_bench [BOOTSTRAP TOPIC PARTITIONS]\n");
    return 2;
  }
  run({.settings = {.bootstrap = argv[1], .client_id = "bench"},
       .topic = argv[2],
       .partitions = std::atoi(argv[3]),
       .records = kRealRecords});
}
