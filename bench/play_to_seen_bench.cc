// How long a play takes from the producer's hand to a seen answer, through the whole chain as it runs: the freshness
// that a recommender sees.
//
//   play_to_seen_bench BOOTSTRAP PLAYS_TOPIC SERVICE [PLAYS]
//
// Sends one play (linger.ms 0, acks=all), asks Filter about it until it is seen, then sends the next one, at another
// point of the chain's rhythm. The clock starts before the play is given to the Kafka client. Asking takes a
// millisecond or so, by which the figures are too high. Prints one JSON line.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "pipeline/kafka/producer/producer.h"
#include "pipeline/runtime/signals.h"

namespace {

using namespace bloomring;

constexpr int64_t kPatienceNs = 30'000'000'000;

template <typename T>
T must(Result<T> result) {
  BLOOMRING_CHECK(result.ok(), result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) { BLOOMRING_CHECK(status.ok(), status.to_string()); }

bool is_seen(Client& client, const std::string& user, const std::string& item) {
  const FilterReply reply = must(client.filter({.user = user, .scene = {}, .items = {item}, .client_seen = {}}));
  return reply.items[0].seen;
}

double percentile_ms(std::vector<int64_t>& delays_ns, double share) {
  std::sort(delays_ns.begin(), delays_ns.end());
  return static_cast<double>(delays_ns[static_cast<size_t>(share * static_cast<double>(delays_ns.size() - 1))]) / 1e6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fputs("usage: play_to_seen_bench BOOTSTRAP PLAYS_TOPIC SERVICE [PLAYS]\n", stderr), 2;
  const int plays = argc > 4 ? std::stoi(argv[4]) : 500;
  const SystemClock clock;
  hold_stop_signals();
  kafka::ClientSettings settings;
  settings.bootstrap = argv[1];
  settings.linger_ms = 0;
  const auto producer = must(kafka::Producer::create(settings));
  must(producer->verify_topic(argv[2], 0));
  const auto sink = producer->make_sink();
  const auto client = Client::connect({.server = argv[3], .deadline_ms = 5'000, .fail_open = false});
  std::mt19937_64 random(static_cast<uint64_t>(clock.now_ms()));
  std::vector<uint64_t> tickets;
  std::vector<int64_t> delays_ns;
  for (int i = 0; i < plays; ++i) {
    const std::string user = "fresh" + std::to_string(random() % 1'000'000), item = "item" + std::to_string(random());
    OutRecord out{.topic = argv[2], .partition = {}, .key = user, .value = {}, .headers = {}};
    out.value = "{\"user\":\"" + user + "\",\"item\":\"" + item + "\",\"time\":" + std::to_string(clock.now_ms()) + "}";
    const int64_t sent_ns = clock.steady_ns();
    must(sink->send(out, 0));
    while (!is_seen(*client, user, item)) {
      BLOOMRING_CHECK(clock.steady_ns() - sent_ns < kPatienceNs, "a play is not seen within 30 s");
      if (stop_signal_within(1)) return 1;
    }
    delays_ns.push_back(clock.steady_ns() - sent_ns);
    must(sink->poll_acks(tickets));
    tickets.clear();
    if (stop_signal_within(static_cast<int>(random() % 40))) return 1;
  }
  std::printf("{\"plays\":%d,\"p50_ms\":%.1f,\"p90_ms\":%.1f,\"p99_ms\":%.1f,\"max_ms\":%.1f}\n", plays,
              percentile_ms(delays_ns, 0.5), percentile_ms(delays_ns, 0.9), percentile_ms(delays_ns, 0.99),
              percentile_ms(delays_ns, 1));
  must(producer->flush(10'000));
  return 0;
}
