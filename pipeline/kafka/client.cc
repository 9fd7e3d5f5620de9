#include "pipeline/kafka/client.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "pipeline/kafka/property_rules.h"
#include "pipeline/kafka/statistics.h"
#include "pipeline/kafka/trouble.h"

namespace bloomring::kafka {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

LogLevel level_of(int syslog_level) {
  if (syslog_level <= 3) return LogLevel::kError;
  if (syslog_level == 4) return LogLevel::kWarning;
  return syslog_level <= 6 ? LogLevel::kInfo : LogLevel::kDebug;
}

// Logs a line of librdkafka.
void on_log(const rd_kafka_t* client, int syslog_level, const char* facility, const char* text) {
  // One map of properties serves consumers and producers, so warnings about properties of the other kind are noise.
  if (std::strcmp(facility, "CONFWARN") == 0) syslog_level = 7;
  // Repeats the line FAIL that has just reported the connection.
  if (std::strcmp(facility, "ERROR") == 0 && std::strstr(text, "brokers are down") == nullptr) syslog_level = 7;
  note_trouble(text);
  const std::string meaning = meaning_of(text);
  log_line(level_of(syslog_level), std::string("kafka: ") + text + (meaning.empty() ? "" : ": " + meaning),
           {{"client", rd_kafka_name(client)}, {"event", facility}});
}

Status set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char why[512] = "";
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why, sizeof why) == RD_KAFKA_CONF_OK) return {};
  return invalid("kafka.properties: " + name + ": " + why);
}

Status set_all(rd_kafka_conf_t* conf, const auto& properties) {
  for (const auto& [name, value] : properties) BLOOMRING_TRY(set(conf, name, value));
  return {};
}

// Our defaults, then the user's properties, then the properties that have their own keys.
Result<ConfHandle> make_conf(const ClientSettings& settings, const Properties& defaults) {
  const std::vector<std::string> broken = check_rules(settings.properties);
  if (!broken.empty()) return invalid("kafka.properties " + broken.front());
  if (settings.bootstrap.empty()) return invalid("kafka.bootstrap is empty: give host:port of a broker");
  if (settings.client_id.size() > 64) return invalid("the client id has more than 64 bytes: " + settings.client_id);
  ConfHandle conf = bare_conf();
  BLOOMRING_TRY(set_all(conf.get(), defaults));
  BLOOMRING_TRY(set_all(conf.get(), settings.properties));
  BLOOMRING_TRY(set(conf.get(), "bootstrap.servers", settings.bootstrap));
  BLOOMRING_TRY(set(conf.get(), "client.id", settings.client_id));
  return conf;
}

// For both kinds. The client gives up a hung broker after 15 s. Nagle's algorithm (on by default in 2.0.2) is off.
const Properties kCommon = {{"socket.timeout.ms", "15000"},
                            {"socket.nagle.disable", "true"},
                            {"reconnect.backoff.max.ms", "2000"},
                            {"statistics.interval.ms", "5000"},
                            {"log.connection.close", "false"}};

// For the reasons see the rules in property_rules.cc. fetch.wait.max.ms: a fetch that returns wakes the broker thread
// out of its 1 s nap over a full partition queue, so an idle partition keeps the busy ones going.
const Properties kConsumer = {
    {"enable.auto.commit", "false"},   {"enable.auto.offset.store", "false"},      {"auto.offset.reset", "error"},
    {"enable.partition.eof", "true"},  {"partition.assignment.strategy", "range"}, {"session.timeout.ms", "30000"},
    {"heartbeat.interval.ms", "3000"}, {"queued.min.messages", "1000000"},         {"fetch.wait.max.ms", "50"}};

// Blocks and batches are mostly hashes: zstd makes them 2 % smaller than lz4 does, for 0.2 us of CPU a play more
// (bench/RESULTS.md). A broker that knows only the newest Produce requests gets them uncompressed. Idempotence is off:
// it can go fatal in 2.0.2 after a time-out, and a repeated record is harmless here.
const Properties kProducer = {{"acks", "all"},
                              {"message.timeout.ms", "0"},
                              {"compression.codec", "lz4"}};

Properties operator+(Properties left, const Properties& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

// A property that is not a number is refused when the client is made.
int64_t standstill_max_ms(const ClientSettings& settings) {
  const auto number = [&](const std::string& name) {
    const auto given = settings.properties.find(name);
    const std::string_view text = given != settings.properties.end()
                                      ? given->second
                                      : std::find_if(kConsumer.begin(), kConsumer.end(), [&](const auto& ours) {
                                          return ours.first == name;
                                        })->second;
    int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  const int64_t session_ms = number("session.timeout.ms");
  return std::max(session_ms - 2 * number("heartbeat.interval.ms"), session_ms / 3);
}

ConfHandle bare_conf() {
  ConfHandle conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), on_log);
  rd_kafka_conf_set_stats_cb(conf.get(), on_statistics);
  return conf;
}

// A quarter of the share, at least 64 KiB, is for one fetch, and the rest for queued records. Together they stay
// within a share of 128 KiB or more.
QueueBounds queue_bounds(const ClientSettings& settings, size_t partitions_max) {
  size_t partitions = std::max<size_t>(partitions_max, 1);
  if (settings.queue_partitions_max > 0) partitions = std::min(partitions, settings.queue_partitions_max);
  const size_t share = settings.queue_memory_bytes / partitions / std::max<size_t>(settings.queue_overhead, 1);
  const size_t fetch = std::clamp<size_t>(share / 4, 64 << 10, 1 << 20);
  const size_t waiting = share - std::min(share, fetch);
  return {std::clamp<size_t>(waiting / 1024, 64, 64 * 1024), fetch};
}

Result<ConfHandle> consumer_conf(const ClientSettings& settings, size_t partitions_max) {
  const QueueBounds bounds = queue_bounds(settings, partitions_max);
  const Properties queue = {{"queued.max.messages.kbytes", std::to_string(bounds.payload_kbytes)},
                            {"fetch.message.max.bytes", std::to_string(bounds.fetch_bytes)}};
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, make_conf(settings, kCommon + kConsumer + queue));
  if (!settings.group.empty()) BLOOMRING_TRY(set(conf.get(), "group.id", settings.group));
  if (!settings.instance_id.empty()) BLOOMRING_TRY(set(conf.get(), "group.instance.id", settings.instance_id));
  return conf;
}

// Half of the memory is for payloads, the rest for librdkafka's own data and packed batches: a record costs about half
// a kilobyte in addition to its payload.
Result<ConfHandle> producer_conf(const ClientSettings& settings) {
  const size_t kbytes = std::max<size_t>(settings.send_memory_bytes / 2 / 1024, 1);
  const size_t records = std::clamp<size_t>(settings.send_memory_bytes / 1024, 1000, 1'000'000);
  return make_conf(settings, kCommon + kProducer +
                                 Properties{{"queue.buffering.max.kbytes", std::to_string(kbytes)},
                                            {"queue.buffering.max.messages", std::to_string(records)},
                                            {"message.max.bytes", std::to_string(settings.message_bytes_max)},
                                            {"linger.ms", std::to_string(settings.linger_ms)}});
}

Result<ClientHandle> make_client(ConfHandle conf, rd_kafka_type_t type) {
  char why[512] = "";
  ClientHandle client(rd_kafka_new(type, conf.get(), why, sizeof why));
  if (!client) return invalid(std::string("kafka.properties: ") + why);
  static_cast<void>(conf.release());  // The client has taken it.
  return client;
}

std::string no_answer(const std::string& bootstrap, int timeout_ms) {
  const std::string text =
      "no broker answered at " + bootstrap + " within " + std::to_string((timeout_ms + 999) / 1000) + " s: ";
  if (const std::string trouble = trouble_with(bootstrap); !trouble.empty()) {
    return text + trouble + ". kafka.bootstrap must name brokers";
  }
  return text +
         "check kafka.bootstrap, that the brokers' advertised addresses can be reached from here, and the log for "
         "refused connections";
}

}  // namespace bloomring::kafka
