// The whole chain in one process on an embedded broker and store, for trying it out: `bloomring dev`.
//
//   make -> feed -> wait_until_merged -> check, summary (any of them may be left out)
//
// The embedded broker drops records that are more than 5 MiB behind, so `feed` sends only as fast as ingest reads.
// Threading: one thread.
// Errors: kFatal, naming the condition, when a wait passes its bound.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "client/client.h"
#include "load/play_file.h"
#include "pipeline/kafka/consumer/assigned_consumer.h"
#include "pipeline/kafka/embedded_broker.h"
#include "pipeline/stages/process.h"

namespace bloomring {

// The result of the comparison with exact sets.
struct DevCheck {
  uint64_t users = 0;
  uint64_t played = 0;           // Distinct (user, item) pairs asked about.
  uint64_t unseen = 0;           // Of them, answered unseen: must be 0.
  uint64_t probes = 0;           // Items that the user never played.
  uint64_t false_positives = 0;  // Of them, answered seen.
  double expected = 0;           // Expected false positives, from the error in each answer.
  // The most false positives allowed: chance alone exceeds it in less than one of a billion checks.
  double false_positives_max() const { return expected + 6 * std::sqrt(expected) + 6; }
  bool passed() const { return unseen == 0 && static_cast<double>(false_positives) <= false_positives_max(); }
};

class DevWorld {
 public:
  // Waits call `interrupted`: true ends the wait with kRetry. `configuration` is for the operations page.
  static Result<std::unique_ptr<DevWorld>> make(Settings settings, const std::string& configuration,
                                                const Clock& clock, std::function<bool()> interrupted);
  ~DevWorld();

  Process& process() { return *process_; }
  // Waits until every stage is ready.
  Status wait_ready();
  // Sends the records and waits until ingest has read them.
  Status feed(const std::vector<std::string>& json);
  // Waits until everything in the log is merged (the ring turns with time) and a lap has passed since, so that no play
  // is answered from memory.
  Status wait_until_merged();
  // Asks the service about every user of the file.
  Result<DevCheck> check(const PlayFile& file);
  // A report of the chain, in lines for people.
  std::string summary();
  uint64_t plays_refused();
  std::string query_line(const std::string& user, const std::vector<std::string>& items);

 private:
  DevWorld(const Clock& clock, std::function<bool()> interrupted)
      : clock_(clock), interrupted_(std::move(interrupted)) {}
  Status wait_for(const std::function<Result<bool>()>& condition, int64_t bound_ms, const std::string& what);
  // The value of a counter, at the cost of a scrape.
  uint64_t count(const MetricDecl& decl, LabelValues labels = {});
  uint64_t plays_read();
  Result<bool> all_merged();
  // Plays that are answered from memory. They leave it a lap after they were merged.
  double recent_plays() const;
  Status check_user(Client& client, const std::string& user, const std::set<std::string>& played, DevCheck& check);

  const Clock& clock_;
  const std::function<bool()> interrupted_;
  Settings settings_;
  std::unique_ptr<kafka::EmbeddedBroker> broker_;
  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<kafka::AssignedConsumer> lookup_;
};

}  // namespace bloomring
