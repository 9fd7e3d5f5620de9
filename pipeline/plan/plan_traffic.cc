#include "pipeline/plan/plan_traffic.h"

#include <algorithm>
#include <cmath>

#include "filter/stored_bytes.h"
#include "pipeline/plan/record_sizes.h"

namespace bloomring {

namespace {

constexpr double kDaySeconds = 86'400;

uint64_t rounded(double value) { return static_cast<uint64_t>(std::max(1.0, std::round(value))); }

// A user with n plays in a period has n / plays_per_session sessions, at random times, each in one slot. `factor`: the
// plays of this slot, of a mean one.
SlotSums sum_slot(const PlanInput& input, const PlaysPerUser& users, double slots_of_period, double factor) {
  const filter::Policy policy = policy_of(input.settings);
  const double key_bytes = filter_key_bytes(input);
  SlotSums sums;
  const auto shares = users.shares();
  for (size_t n = 1; n < shares.size(); ++n) {
    const auto plays = static_cast<double>(n);
    const double in_slot = plays / slots_of_period * factor;
    const double active = -std::expm1(-in_slot / std::min(plays, input.plays_per_session));  // Its probability.
    const double active_users = input.users * shares[n] * active;
    const uint64_t batch = rounded(in_slot / active * (1 - input.repeats));
    const uint64_t items = rounded(plays * (1 - input.repeats));
    sums.users += active_users;
    sums.operand_bytes += active_users * (key_bytes + static_cast<double>(filter::operand_bytes(batch, policy)));
    sums.filter_bytes += active_users * static_cast<double>(filter::stored_bytes(items, policy, false));
  }
  return sums;
}

// A block closes `linger_ms` after its first play, or when it is full.
uint32_t block_plays(const PlanInput& input, double plays_s) {
  const IngestSettings& ingest = input.settings.ingest;
  const double of_partition = plays_s / input.settings.topics.partitions;
  const double plays = 1 + of_partition * ingest.linger_ms / 1000;
  return static_cast<uint32_t>(std::clamp(plays, 1.0, static_cast<double>(ingest.block_events)));
}

// Users play every 15 seconds or so: in the 50 ms of a block each of its plays is of another user.
double block_bytes_of_play(const PlanInput& input, double plays_s, double record_bytes) {
  const uint32_t plays = block_plays(input, plays_s);
  const double bytes = event_block_bytes({.events = plays,
                                          .users = plays,
                                          .id_bytes = input.id_bytes,
                                          .span_ms = input.settings.ingest.linger_ms});
  return (bytes + record_bytes) / plays;
}

// A call that records serves is a block of its own (pipeline/stages/serve/kafka_event_log.h).
double serve_bytes_of_play(const PlanInput& input, double record_bytes) {
  if (input.serves_per_play == 0) return 0;
  const auto items = static_cast<uint32_t>(rounded(input.plays_per_call * input.serves_per_play));
  const double bytes = event_block_bytes({.events = items, .users = 1, .id_bytes = input.id_bytes, .span_ms = 1});
  return (bytes + record_bytes) / items * input.serves_per_play;
}

}  // namespace

PlanTraffic plan_traffic(const PlanInput& input, const PlaysPerUser& users) {
  PlanTraffic traffic;
  const double period_s = period_seconds(input.settings.filter.period);
  traffic.slot_s = input.settings.ring.slot_seconds;
  traffic.slots_of_period = period_s / traffic.slot_s;
  traffic.plays_s = plays_per_day(input) / kDaySeconds;
  traffic.plays_of_user = traffic.plays_s * period_s / input.users;
  traffic.peak_plays_s = traffic.plays_s * input.peak;
  traffic.events_of_play = 1 + input.serves_per_play;
  traffic.peak_calls_s = traffic.peak_plays_s / input.plays_per_call;
  traffic.mean_slot = sum_slot(input, users, traffic.slots_of_period, 1);
  traffic.peak_slot = sum_slot(input, users, traffic.slots_of_period, input.peak);

  // Fuller blocks share their heads: the fewest bytes a play are those of the peak.
  const PlanRange rates{traffic.peak_plays_s, traffic.plays_s, traffic.plays_s / input.peak};
  const auto bytes = [&](double rate, double record) {
    return block_bytes_of_play(input, rate, record) + serve_bytes_of_play(input, record);
  };
  const PlanRange& record = kKafkaRecordBytes.value;
  traffic.event_bytes = {bytes(rates.low, record.low), bytes(rates.mid, record.mid), bytes(rates.high, record.high)};
  traffic.staged_bytes = {bytes(rates.low, 0), bytes(rates.mid, 0), bytes(rates.high, 0)};
  const BatchSizes batch = user_batch_sizes(input.id_bytes);
  const double slot_plays = traffic.plays_s * traffic.slot_s;
  traffic.batch_bytes = batch.of_user * traffic.mean_slot.users / slot_plays + batch.of_play * (1 - input.repeats);
  return traffic;
}

void add_traffic_rows(const PlanInput& input, const PlanTraffic& traffic, PlanResult& result) {
  constexpr std::string_view kPlays = "plays", kKafka = "Kafka";
  const TopicSettings& topics = input.settings.topics;
  result.add(kPlays, "plays a second, mean", traffic.plays_s, "plays/s", {"input"});
  result.add(kPlays, "plays a second, peak", traffic.peak_plays_s, "plays/s", {"input", kPeak.name});
  result.add(kPlays, "plays of a user in a period, mean", traffic.plays_of_user, "", {"input"});
  result.add(kPlays, "users who play in the fullest slot", traffic.peak_slot.users, "",
             {"sum over plays of a user", kSessionPlays.name});
  result.add(kPlays, "calls of Filter a second, peak", traffic.peak_calls_s, "calls/s", {"input", kCallPlays.name});

  const PlanRange log_bytes = traffic.event_bytes + PlanRange::exactly(traffic.batch_bytes);
  const double kept_plays = traffic.plays_s * 3600 * topics.retention_hours * topics.replication;
  result.add(kKafka, "partitions of user-events and of user-batches", topics.partitions, "", {"topics.partitions"});
  result.add(kKafka, "events a second of a partition, peak",
             traffic.peak_plays_s * traffic.events_of_play / topics.partitions, "events/s", {"input", kServes.name});
  result.add(kKafka, "user-events, bytes a play with its serves", traffic.event_bytes, "bytes",
             {"schemas/event_block.h", kKafkaRecordBytes.name, kServes.name});
  result.add(kKafka, "user-batches, bytes a play", traffic.batch_bytes, "bytes", {"schemas/user_batch.h"});
  result.add(kKafka, "read from the site's topics, peak", kPlayRecordBytes.value * traffic.peak_plays_s, "bytes/s",
             {kPlayRecordBytes.name});
  result.add(kKafka, "written to our topics, peak", log_bytes * traffic.peak_plays_s, "bytes/s",
             {"bytes a play", "plays a second"});
  result.add(kKafka, "our topics on the disks of the brokers", log_bytes * kept_plays, "bytes",
             {"bytes a play", "topics.retention_hours", "topics.replication"});
}

}  // namespace bloomring
