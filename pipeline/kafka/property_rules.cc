#include "pipeline/kafka/property_rules.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string_view>

namespace bloomring::kafka {
namespace {

struct Rule {
  std::string_view name;
  std::initializer_list<std::string_view> allowed;
  std::string_view reason;
  std::string_view way_out = "leave it out";
  int most = 0;  // Numbers up to it are allowed; 0: none.
};

constexpr std::string_view kCommits = "offsets are committed explicitly, never before what they cover is durable";
constexpr std::string_view kStart = "start offsets are explicit, and a lost position must stop its partition";
constexpr std::string_view kEager = "cooperative assignment loses partitions and hangs in librdkafka 2.0.2";
constexpr std::string_view kAcks = "a record is acknowledged once it is on all in-sync replicas";
constexpr std::string_view kForever = "an unsent record holds its sender back; giving it up would lose it";
constexpr std::string_view kReports = "every record's delivery is tracked";
constexpr std::string_view kRack = "fetching from followers crashes librdkafka 2.0.2";
constexpr std::string_view kTransactions = "the pipeline is at-least-once and does not use transactions";
constexpr std::string_view kSizes =
    "bloomring's own topics and records have this size; topics of plays may have a larger one";
// A broker answers the requests of a connection in their order.
constexpr std::string_view kFetchWait =
    "requests for the ends of a log wait behind each fetch, and time out after a second";
constexpr std::string_view kOwnKey = "it follows from a key of its own in the configuration";

const Rule kRules[] = {
    {"enable.auto.commit", {"false"}, kCommits},
    {"enable.auto.offset.store", {"false"}, kCommits},
    {"auto.offset.reset", {"error"}, kStart},
    {"enable.partition.eof", {"true"}, "quiet partitions are sealed by their end"},
    {"isolation.level", {"read_committed"}, "records of a transaction that does not commit must not count"},
    {"partition.assignment.strategy", {"range", "roundrobin"}, kEager},
    {"acks", {"all", "-1"}, kAcks},
    {"request.required.acks", {"all", "-1"}, kAcks},
    {"message.timeout.ms", {"0"}, kForever},
    {"delivery.timeout.ms", {"0"}, kForever},
    {"delivery.report.only.error", {"false"}, kReports},
    {"client.rack", {}, kRack},
    {"allow.auto.create.topics", {"false"}, "a topic that a broker makes up has the wrong number of partitions"},
    {"message.max.bytes", {"1000000"}, kSizes},
    {"fetch.wait.max.ms", {}, kFetchWait, "leave it out, or set at most 200", 200},
    {"transactional.id", {}, kTransactions},
    {"enable.idempotence", {"false"}, "it can stop a producer of librdkafka 2.0.2 permanently; repeats do no harm"},
    {"partitioner", {}, "a record goes to the partition of its user's shard"},
    {"bootstrap.servers", {}, kOwnKey, "set kafka.bootstrap instead"},
    {"metadata.broker.list", {}, kOwnKey, "set kafka.bootstrap instead"},
    {"client.id", {}, kOwnKey, "set instance instead"},
    {"group.id", {}, kOwnKey, "set kafka.group_prefix instead"},
    {"group.instance.id", {}, kOwnKey, "set instance instead"},
    {"plugin.library.paths", {}, "it loads code of others into the process"},
    {"ssl.engine.location", {}, "it loads code of others into the process", "name key files in ssl.key.location"},
    {"enable.ssl.certificate.verification", {"true"}, "whoever is between could be the brokers",
     "name the authorities of the brokers in ssl.ca.location"},
    {"linger.ms", {}, "each stage has its own"},
    {"queue.buffering.max.ms", {}, "each stage has its own"},
};

bool allows(const Rule& rule, std::string_view value) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (rule.most > 0) return error == std::errc() && end == value.data() + value.size() && number <= rule.most;
  return std::find(rule.allowed.begin(), rule.allowed.end(), value) != rule.allowed.end();
}

std::string refusal(const Rule& rule, const std::string& value) {
  const std::string to = rule.allowed.size() == 0 && rule.most == 0 ? "" : " to '" + value + "'";
  return "must not set " + std::string(rule.name) + to + ": " + std::string(rule.reason) + "; " +
         std::string(rule.way_out);
}

}  // namespace

std::vector<std::string> check_rules(const std::map<std::string, std::string>& properties) {
  std::vector<std::string> found;
  for (const Rule& rule : kRules) {
    const auto property = properties.find(std::string(rule.name));
    if (property == properties.end() || allows(rule, property->second)) continue;
    found.push_back(refusal(rule, property->second));
  }
  return found;
}

}  // namespace bloomring::kafka
