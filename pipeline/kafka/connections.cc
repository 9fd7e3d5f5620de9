#include "pipeline/kafka/connections.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/kafka/handle.h"
#include "pipeline/kafka/statistics.h"

namespace bloomring::kafka {
namespace {

struct Standings {
  std::mutex mutex;
  std::map<const rd_kafka_t*, Connections> of;
  uint64_t disconnects_of_gone = 0;
};

Standings& standings() {
  static Standings& all = *new Standings;  // Never destroyed: clients of other statics may end later.
  return all;
}

// Skips the topics, the large part of the statistics.
bool not_topics(int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
  return depth != 1 || event != nlohmann::json::parse_event_t::key || parsed.get_ref<const std::string&>() != "topics";
}

// Of a broker: {"nodeid":1,"state":"UP","disconnects":0,"connects":1,"rtt":{"avg":812,...},...}, times in us. Skips a
// broker without any connection so far. A bootstrap address has the node id -1 and is closed once its broker is known.
void add_broker(const nlohmann::json& broker, Connections& sum) {
  sum.disconnects += broker.value("disconnects", uint64_t{0});
  if (broker.value("state", "") == "UP") {
    ++sum.up;
  } else if (broker.value("nodeid", -1) >= 0 && broker.value("connects", 0) > 0) {
    ++sum.down;
  }
  const double mean_us = broker.value(nlohmann::json::json_pointer("/rtt/avg"), 0.0);
  sum.round_trip_seconds = std::max(sum.round_trip_seconds, mean_us / 1e6);
}

}  // namespace

void take_statistics(const rd_kafka_t* client, std::string_view json) {
  const nlohmann::json all = nlohmann::json::parse(json, not_topics, /*allow_exceptions=*/false);
  if (!all.is_object() || !all.contains("brokers")) return;
  Connections sum;
  for (const auto& [name, broker] : all["brokers"].items()) add_broker(broker, sum);
  const std::lock_guard lock(standings().mutex);
  standings().of[client] = sum;
}

int on_statistics(rd_kafka_t* client, char* json, size_t size, void*) {
  take_statistics(client, {json, size});
  return 0;  // librdkafka frees the text.
}

void destroy_client(rd_kafka_t* client) {
  {
    const std::lock_guard lock(standings().mutex);
    const auto found = standings().of.find(client);
    if (found != standings().of.end()) {
      standings().disconnects_of_gone += found->second.disconnects;
      standings().of.erase(found);
    }
  }
  rd_kafka_destroy(client);
}

Connections connections() {
  const std::lock_guard lock(standings().mutex);
  Connections sum;
  sum.disconnects = standings().disconnects_of_gone;
  for (const auto& [client, one] : standings().of) {
    sum.up += one.up;
    sum.down += one.down;
    sum.disconnects += one.disconnects;
    sum.round_trip_seconds = std::max(sum.round_trip_seconds, one.round_trip_seconds);
  }
  return sum;
}

std::string library_version() { return rd_kafka_version_str(); }

}  // namespace bloomring::kafka
