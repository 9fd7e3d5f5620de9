// The series on /metrics of a process that belong to no stage: its build, memory, folders, databases, brokers and
// certificates.
//
// Cost of a scrape: a few microseconds for each open database and folder. Slower values (sizes of folders,
// certificates) are looked up once a minute, by the first scrape after that.
// Threading: scrapes come from the admin port, one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/metrics/metrics.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/metrics/log_watch.h"
#include "pipeline/settings/memory_plan.h"
#include "pipeline/settings/settings.h"
#include "state/rocksdb/state_memory.h"

namespace bloomring {

class ProcessMetrics {
 public:
  // All but the settings outlive it.
  ProcessMetrics(Metrics& metrics, const Settings& settings, const MemoryPlan& plan, const StateMemory& memory,
                 const kafka::Producer& producer, const LogWatch& watch, const Clock& clock);

 private:
  void write(Scrape& scrape);
  void write_memory(Scrape& scrape) const;
  void write_databases(Scrape& scrape) const;
  void write_brokers(Scrape& scrape) const;
  void write_folders(Scrape& scrape);
  void write_certificates(Scrape& scrape);
  void look_up_if_due();

  const Settings settings_;
  const MemoryPlan& plan_;
  const StateMemory& memory_;
  const kafka::Producer& producer_;
  const LogWatch& watch_;
  const Clock& clock_;
  std::vector<std::pair<std::string, std::string>> folders_;  // "store" or "state", path.
  int64_t look_up_at_ns_ = INT64_MIN;
  std::map<std::string, uint64_t> folder_bytes_;
  std::map<std::string, int64_t> expiries_s_;
  Metrics::Registration registration_;  // Last: its callback uses the rest.
};

// Bytes of all files below the folder; 0 if it does not exist.
uint64_t tree_bytes(const std::string& path);

}  // namespace bloomring
