#include "pipeline/kafka/property_rules.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace bloomring::kafka {
namespace {

struct Rule {
  std::string_view name;
  std::initializer_list<std::string_view> allowed;
  std::string_view reason;
};

constexpr std::string_view kCommits = "offsets are committed explicitly, never before what they cover is durable";
constexpr std::string_view kStart = "start offsets are explicit, and a lost position must stop its partition";
constexpr std::string_view kEager = "cooperative assignment loses partitions and hangs in librdkafka 2.0.2";
constexpr std::string_view kAcks = "a record is acknowledged once it is on all in-sync replicas";
constexpr std::string_view kForever = "an unsent record holds its sender back; giving it up would lose it";
constexpr std::string_view kReports = "every record's delivery is tracked";
constexpr std::string_view kRack = "fetching from followers crashes librdkafka 2.0.2";
constexpr std::string_view kTransactions = "the pipeline is at-least-once and does not use transactions";
constexpr std::string_view kOwnKey = "it follows from a key of its own in the configuration";

const Rule kRules[] = {
    {"enable.auto.commit", {"false"}, kCommits},
    {"enable.auto.offset.store", {"false"}, kCommits},
    {"auto.offset.reset", {"error"}, kStart},
    {"enable.partition.eof", {"true"}, "quiet partitions are sealed by their end"},
    {"partition.assignment.strategy", {"range", "roundrobin"}, kEager},
    {"acks", {"all", "-1"}, kAcks},
    {"request.required.acks", {"all", "-1"}, kAcks},
    {"message.timeout.ms", {"0"}, kForever},
    {"delivery.timeout.ms", {"0"}, kForever},
    {"delivery.report.only.error", {"false"}, kReports},
    {"client.rack", {}, kRack},
    {"allow.auto.create.topics", {"false"}, "a topic that a broker makes up has the wrong number of partitions"},
    {"transactional.id", {}, kTransactions},
    {"bootstrap.servers", {}, kOwnKey},
    {"metadata.broker.list", {}, kOwnKey},
    {"client.id", {}, kOwnKey},
    {"group.id", {}, kOwnKey},
    {"group.instance.id", {}, kOwnKey},
    {"linger.ms", {}, kOwnKey},
    {"queue.buffering.max.ms", {}, kOwnKey},
};

bool allows(const Rule& rule, std::string_view value) {
  return std::find(rule.allowed.begin(), rule.allowed.end(), value) != rule.allowed.end();
}

Status refuse(const Rule& rule, std::string_view value) {
  std::string message = "kafka.properties: " + std::string(rule.name) + " must not be ";
  message += rule.allowed.size() == 0 ? "set" : "'" + std::string(value) + "'";
  return invalid(message + ": " + std::string(rule.reason));
}

}  // namespace

Status check_rules(const std::map<std::string, std::string>& properties) {
  for (const Rule& rule : kRules) {
    const auto property = properties.find(std::string(rule.name));
    if (property != properties.end() && !allows(rule, property->second)) return refuse(rule, property->second);
  }
  return {};
}

}  // namespace bloomring::kafka
