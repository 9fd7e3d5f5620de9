#include <spdlog/spdlog.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/hash.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "load/load_model.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/stores/open_legacy.h"
#include "state/legacy/legacy_writer.h"

namespace bloomring::cli {

namespace {

constexpr uint64_t kPlaysPerTurn = 1'000;  // Between two checks of clock, signals and acknowledgements.
constexpr int64_t kProgressIntervalNs = 5'000'000'000;
constexpr int kFlushTurnMs = 1'000;
constexpr int kTurnsWithoutProgress = 60;

// The destination of plays.
class Destination {
 public:
  virtual ~Destination() = default;
  virtual Status write(const LoadPlay& play, const std::string& json) = 0;
  virtual Status end_turn() = 0;
  // Waits until everything written has arrived.
  virtual Status finish() = 0;
};

class StandardOutput final : public Destination {
 public:
  Status write(const LoadPlay&, const std::string& json) override {
    text_.append(json).push_back('\n');
    return {};
  }
  Status end_turn() override {
    std::cout << text_;
    text_.clear();
    return std::cout.good() ? Status() : fatal("standard output cannot be written");
  }
  Status finish() override { return end_turn(); }

 private:
  std::string text_;
};

// Sends a user's plays to one partition, as a producer with the user as key does.
class KafkaTopic final : public Destination {
 public:
  static Result<std::unique_ptr<KafkaTopic>> open(const kafka::ClientSettings& kafka, std::string topic,
                                                  int32_t partitions, uint32_t id_bytes) {
    BLOOMRING_TRY_ASSIGN(auto producer, kafka::Producer::create(kafka));
    BLOOMRING_TRY(producer->verify_topic(topic, partitions));
    return std::unique_ptr<KafkaTopic>(new KafkaTopic(std::move(producer), std::move(topic), partitions, id_bytes));
  }

  Status write(const LoadPlay& play, const std::string& json) override {
    write_user_id(play, id_bytes_, record_.key);
    record_.partition =
        PartitionId(static_cast<int32_t>(hash_bytes(record_.key, 0) % static_cast<uint64_t>(partitions_)));
    record_.value = json;
    for (;;) {
      const Status sent = sink_->send(record_, 0);
      if (sent.code() != Code::kRetry) return sent;
      if (stop_signal_within(1)) return retry("interrupted while the brokers accepted no more records");
      BLOOMRING_TRY(end_turn());
    }
  }
  Status end_turn() override {
    acks_.clear();
    return sink_->poll_acks(acks_);
  }
  Status finish() override {
    int64_t in_flight = producer_->stats().in_flight;
    for (int turns = 0; turns < kTurnsWithoutProgress; ++turns) {
      const Status flushed = producer_->flush(kFlushTurnMs);
      if (flushed.code() != Code::kRetry || stop_signal_within(0)) return flushed.ok() ? end_turn() : flushed;
      if (std::exchange(in_flight, producer_->stats().in_flight) > producer_->stats().in_flight) turns = 0;
    }
    return retry("the brokers took no record for a minute; " + std::to_string(in_flight) + " plays were not written");
  }

 private:
  KafkaTopic(std::unique_ptr<kafka::Producer> producer, std::string topic, int32_t partitions, uint32_t id_bytes)
      : producer_(std::move(producer)), sink_(producer_->make_sink()), partitions_(partitions), id_bytes_(id_bytes) {
    record_.topic = std::move(topic);
  }

  std::unique_ptr<kafka::Producer> producer_;
  std::unique_ptr<Sink> sink_;
  int32_t partitions_;
  uint32_t id_bytes_;
  OutRecord record_;
  std::vector<uint64_t> acks_;
};

// Sorted sets of an old store.
class OldStore final : public Destination {
 public:
  OldStore(LegacyStore store, uint32_t id_bytes)
      : store_(std::move(store)), writer_(*store_.client), id_bytes_(id_bytes) {}

  Status write(const LoadPlay& play, const std::string&) override {
    write_user_id(play, id_bytes_, user_);
    write_item_id(play, id_bytes_, item_);
    return writer_.add(store_.layout.key_of("", user_), store_.layout.member_of(item_),
                       store_.layout.score_of(play.time_ms));
  }
  Status end_turn() override { return {}; }
  Status finish() override { return writer_.flush(); }

  // After `finish`.
  Status cut(uint32_t users, uint64_t newest) {
    std::vector<std::string> keys;
    for (LoadPlay play; play.user < users; ++play.user) {
      write_user_id(play, id_bytes_, user_);
      keys.push_back(store_.layout.key_of("", user_));
      if (keys.size() < kKeysOfCut && play.user + 1 < users) continue;
      BLOOMRING_TRY(writer_.cut(keys, newest));
      keys.clear();
    }
    return {};
  }
  uint64_t bytes() const { return writer_.bytes(); }

 private:
  static constexpr size_t kKeysOfCut = 10'000;

  LegacyStore store_;
  LegacyWriter writer_;
  const uint32_t id_bytes_;
  std::string user_, item_;
};

struct Sent {
  uint64_t plays = 0;
  uint64_t bytes = 0;
  double seconds = 0;

  std::string to_json() const {
    const double rate = static_cast<double>(plays) / std::max(seconds, 1e-3);
    return nlohmann::ordered_json{{"plays", plays}, {"bytes", bytes}, {"seconds", seconds}, {"plays_per_second", rate}}
        .dump();
  }
};

// Waits until the next play is due at this rate; true when a signal asked to stop.
bool wait_for_turn(const Clock& clock, int64_t start_ns, uint64_t plays, double rate) {
  const double due_s = rate > 0 ? static_cast<double>(plays) / rate : 0;
  const double elapsed_s = static_cast<double>(clock.steady_ns() - start_ns) / 1e9;
  return stop_signal_within(due_s > elapsed_s ? static_cast<int>((due_s - elapsed_s) * 1e3) : 0);
}

Result<Sent> send_all(const GenerateArgs& args, const LoadConfig& load, const LoadPlayWriter& writer, Destination& to,
                      const Clock& clock) {
  LoadModel model(load);
  Sent sent;
  ProgressLine progress("generating");
  const int64_t start_ns = clock.steady_ns();
  int64_t progress_ns = start_ns + kProgressIntervalNs;
  // A turn is at most 1/50 s at the requested rate, so that slow loads are even, too.
  const uint64_t turn =
      args.rate > 0 ? std::clamp<uint64_t>(static_cast<uint64_t>(args.rate / 50), 1, kPlaysPerTurn) : kPlaysPerTurn;
  std::string json;
  for (LoadPlay play; model.next(play);) {
    writer.write(play, json);
    BLOOMRING_TRY(to.write(play, json));
    sent.bytes += json.size();
    if (++sent.plays % turn != 0) continue;
    BLOOMRING_TRY(to.end_turn());
    if (wait_for_turn(clock, start_ns, sent.plays, args.rate)) break;
    if (clock.steady_ns() < progress_ns) continue;
    progress.show({{"plays", sent.plays}, {"plays_planned", load.plays}});
    progress_ns = clock.steady_ns() + kProgressIntervalNs;
  }
  BLOOMRING_TRY(to.finish());
  sent.seconds = static_cast<double>(clock.steady_ns() - start_ns) / 1e9;
  return sent;
}

// The plan of --execute, with the first play in full.
std::string plan_json(const GenerateArgs& args, const LoadConfig& load, const LoadPlayWriter& writer,
                      int32_t partitions) {
  nlohmann::ordered_json plan = {
      {"executed", false}, {"topic", args.topic}, {"partitions", partitions}, {"plays", load.plays}};
  std::string json;
  LoadPlay play;
  if (LoadModel(load).next(play)) {
    writer.write(play, json);
    plan["first"] = nlohmann::ordered_json::parse(json);
  }
  return plan.dump();
}

Status generate_to_topic(const GenerateArgs& args, const Settings& settings, const LoadConfig& load,
                         const LoadPlayWriter& writer, const Clock& clock) {
  BLOOMRING_TRY(check_runnable(settings));
  const kafka::ClientSettings kafka = client_settings(settings);
  BLOOMRING_TRY_ASSIGN(const auto admin, kafka::Admin::create(kafka));
  BLOOMRING_TRY_ASSIGN(const auto found, admin->describe(std::span(&args.topic, 1)));
  if (!found.front().exists) {
    return invalid("topic " + args.topic + " does not exist; make it, or `bloomring topics --execute --create-plays` "
                   "makes those of topics.plays");
  }
  const int32_t partitions = found.front().partitions;
  if (!args.execute) {
    print(plan_json(args, load, writer, partitions) + "\n");
    spdlog::warn("nothing was written; --execute writes {} invented plays into topic {}, where they count as real",
                 load.plays, args.topic);
    return {};
  }
  BLOOMRING_TRY_ASSIGN(const auto out, KafkaTopic::open(kafka, args.topic, partitions, args.model.id_bytes));
  BLOOMRING_TRY_ASSIGN(const Sent sent, send_all(args, load, writer, *out, clock));
  print(sent.to_json() + "\n");
  return {};
}

std::string redis_plan_json(const GenerateArgs& args, const Settings& settings, const LoadConfig& load,
                            const LegacyLayout& layout) {
  nlohmann::ordered_json plan = {{"executed", false},
                                 {"servers", settings.migrate.addresses},
                                 {"users", load.users},
                                 {"plays", load.plays},
                                 {"keep", args.keep}};
  LoadPlay play;
  if (LoadModel(load).next(play)) {
    std::string user, item;
    write_user_id(play, args.model.id_bytes, user);
    write_item_id(play, args.model.id_bytes, item);
    plan["first"] = {{"key", layout.key_of("", user)},
                     {"member", layout.member_of(item)},
                     {"score", layout.score_of(play.time_ms)}};
  }
  return plan.dump();
}

Status generate_to_redis(const GenerateArgs& args, const Settings& settings, const LoadConfig& load,
                         const LoadPlayWriter& writer, const Clock& clock) {
  BLOOMRING_TRY_ASSIGN(LegacyStore store, open_legacy(settings));
  if (!args.execute) {
    print(redis_plan_json(args, settings, load, store.layout) + "\n");
    spdlog::warn("nothing was written; --execute writes {} invented plays into sorted sets of {}", load.plays,
                 fmt::join(settings.migrate.addresses, ", "));
    return {};
  }
  OldStore out(std::move(store), args.model.id_bytes);
  BLOOMRING_TRY_ASSIGN(Sent sent, send_all(args, load, writer, out, clock));
  if (args.keep > 0) BLOOMRING_TRY(out.cut(load.users, args.keep));
  sent.bytes = out.bytes();
  print(sent.to_json() + "\n");
  return {};
}

Status generate(const GenerateArgs& args) {
  BLOOMRING_TRY_ASSIGN(const Settings settings, load_command_settings(args.config));
  const SystemClock clock;
  BLOOMRING_TRY_ASSIGN(const LoadConfig load, load_of(args.model, clock));
  const LoadPlayWriter writer(settings.events.mapping(), args.model.id_bytes);
  if (!args.topic.empty()) return generate_to_topic(args, settings, load, writer, clock);
  if (args.to_redis) return generate_to_redis(args, settings, load, writer, clock);
  StandardOutput out;
  return send_all(args, load, writer, out, clock).status();
}

}  // namespace

int generate_command(const GenerateArgs& args) {
  hold_stop_signals();
  return report(generate(args));
}

}  // namespace bloomring::cli
