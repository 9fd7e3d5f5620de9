// Reads a topic once from its beginning to its end and does nothing with the records: the measure for ingest.
//
//   topic_read_bench BOOTSTRAP TOPIC PARTITIONS
//
// Prints one JSON line; the CPU is that of the process. bench/chain_bench.py runs it.
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"

namespace {

using namespace bloomring;
using kafka::AssignedConsumer;

constexpr int kRun = 256;  // Records of one partition at a time, as ingest reads them.

template <typename T>
T must(Result<T> result) {
  BLOOMRING_CHECK(result.ok(), result.status().to_string());
  return std::move(result).value();
}

double cpu_s() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Read {
  int64_t records = 0;
  int64_t bytes = 0;
};

void read_run(Source& source, Read& read) {
  for (int i = 0; i < kRun; ++i) {
    const auto record = must(source.poll());
    if (!record) return;
    ++read.records;
    read.bytes += static_cast<int64_t>(record->value.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: topic_read_bench BOOTSTRAP TOPIC PARTITIONS\n");
    return 2;
  }
  const SystemClock clock;
  const auto partition_count = static_cast<size_t>(std::atoi(argv[3]));
  const auto consumer =
      must(AssignedConsumer::create({.bootstrap = argv[1], .client_id = "bench"}, partition_count, clock));
  std::vector<kafka::TopicPartition> partitions;
  for (size_t p = 0; p < partition_count; ++p) partitions.push_back({argv[2], PartitionId(static_cast<int32_t>(p))});
  const auto facts = must(consumer->facts(partitions));
  std::vector<AssignedConsumer::Start> starts;
  int64_t expected = 0;
  for (size_t p = 0; p < partition_count; ++p) {
    starts.push_back({partitions[p], facts[p].log_start});
    expected += facts[p].log_end.value - facts[p].log_start.value;
  }
  const int64_t start_ns = clock.steady_ns();
  const double start_cpu_s = cpu_s();
  const auto sources = must(consumer->assign(starts));
  Read read;
  while (read.records < expected) {
    const int64_t before = read.records;
    for (const auto& source : sources) read_run(*source, read);
    if (read.records == before) BLOOMRING_CHECK(consumer->poll(1).ok(), "poll");
  }
  std::printf("{\"records\":%lld,\"bytes\":%lld,\"seconds\":%.3f,\"cpu_seconds\":%.3f}\n",
              static_cast<long long>(read.records), static_cast<long long>(read.bytes),
              static_cast<double>(clock.steady_ns() - start_ns) / 1e9, cpu_s() - start_cpu_s);
}
