#include "tests/simulation/sim_tally.h"

namespace bloomring::simulation {

namespace {

struct Name {
  const char* name;
  uint64_t Tally::* count;
};
constexpr Name kNames[] = {
    {"plays", &Tally::plays},
    {"plays of heavy users", &Tally::burst_plays},
    {"refused", &Tally::refused},
    {"larger than a message", &Tally::large},
    {"crashes at fault points", &Tally::crashes},
    {"disks lost", &Tally::disks_lost},
    {"states wiped", &Tally::wiped},
    {"offsets without a record", &Tally::gaps},
    {"batches lost unread", &Tally::batches_lost},
    {"starts with other settings", &Tally::settings_changed},
    {"rings restored with other slots", &Tally::rings_resized},
    {"logs cut", &Tally::logs_cut},
    {"records cut", &Tally::records_cut},
    {"cuts refused", &Tally::cuts_refused},
    {"logs expired", &Tally::logs_expired},
    {"records lost unmerged", &Tally::records_lost},
    {"logs replaced", &Tally::logs_replaced},
    {"crashes of new-log", &Tally::new_logs_crashed},
    {"unread records merged by new-log", &Tally::unread_merged},
    {"backups restored", &Tally::restores},
    {"store outages", &Tally::store_outages},
    {"store outages of hours", &Tally::long_outages},
    {"clock steps", &Tally::clock_steps},
    {"steps in which ingest paused for a clock", &Tally::paused},
    {"steps in which ingest passed over plays", &Tally::passed_over},
    {"rebalances", &Tally::rebalances},
    {"replays", &Tally::replays},
    {"crashes of replays", &Tally::replays_crashed},
    {"month turns", &Tally::months},
    {"slot ends forged", &Tally::forged},
    {"drains", &Tally::drains},
    {"second runs", &Tally::second_runs},
    {"laps", &Tally::laps},
    {"slot ends", &Tally::slot_ends},
    {"calls", &Tally::calls},
    {"of these read before they were acknowledged", &Tally::read_before_noted},
    {"forgets", &Tally::forgets},
    {"answers", &Tally::queries},
    {"plays asked about", &Tally::queried},
    {"complete answers", &Tally::complete},
    {"answers that lacked something and said so", &Tally::lacking},
    {"served items asked about", &Tally::served},
    {"forgotten ones", &Tally::forgotten},
    {"of these seen by a collision", &Tally::forgotten_seen},
};

void add(Tally::Probes& sum, const Tally::Probes& other) {
  sum.asked += other.asked;
  sum.seen += other.seen;
  sum.expected += other.expected;
}

}  // namespace

std::map<std::string, uint64_t> Tally::counts() const {
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, count] : kNames) counts[name] = this->*count;
  return counts;
}

Tally& Tally::operator+=(const Tally& other) {
  for (const auto& [name, count] : kNames) this->*count += other.*count;
  add(rarely, other.rarely);
  add(often, other.often);
  return *this;
}

}  // namespace bloomring::simulation
