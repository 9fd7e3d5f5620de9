// Checks the settings of a client without asking a broker; declared in settings.h.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/config/config.h"
#include "pipeline/kafka/broker_list.h"
#include "pipeline/kafka/client.h"
#include "pipeline/kafka/property_rules.h"

namespace bloomring::kafka {
namespace {

// Properties that name a file or, for the authorities, a folder.
constexpr const char* kFiles[] = {"ssl.ca.location",  "ssl.certificate.location", "ssl.key.location",
                                  "ssl.crl.location", "ssl.keystore.location",    "sasl.kerberos.keytab"};

// Sentences, one for each error.
class Faults {
 public:
  explicit Faults(const std::map<std::string, std::string>& properties) : properties_(properties) {}

  void add(const std::string& sentence) { text_ += (text_.empty() ? "" : "\n") + sentence; }
  void about(const std::string& name, const std::string& why, const std::string& way_out) {
    const std::string value = looks_secret(name) ? "" : " is " + properties_.at(name);
    add("kafka.properties." + name + value + ": " + why + "; " + way_out);
  }
  bool none() const { return text_.empty(); }
  Status status() const { return none() ? Status() : invalid(text_); }

 private:
  const std::map<std::string, std::string>& properties_;
  std::string text_;
};

void check_values(const std::map<std::string, std::string>& properties, Faults& faults) {
  const ConfHandle conf = bare_conf();
  for (const auto& [name, value] : properties) {
    char why[512] = "";
    if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), why, sizeof why) == RD_KAFKA_CONF_OK) continue;
    faults.about(name, why, "correct it or leave it out");
  }
}

void check_files(const std::map<std::string, std::string>& properties, Faults& faults) {
  for (const char* name : kFiles) {
    const auto property = properties.find(name);
    if (property == properties.end() || property->second.empty() || property->second == "probe") continue;
    if (::access(property->second.c_str(), R_OK) == 0) continue;
    faults.about(name, std::string("it cannot be read: ") + std::strerror(errno),
                 "name a file that is there and that this user may read");
  }
}

// Finds errors that show only in combination: a key of another certificate, contradicting times. librdkafka's text
// names the property, if it is one.
void check_together(const ClientSettings& settings, Faults& faults) {
  for (const rd_kafka_type_t type : {RD_KAFKA_CONSUMER, RD_KAFKA_PRODUCER}) {
    auto conf = type == RD_KAFKA_CONSUMER ? consumer_conf(settings, 1) : producer_conf(settings);
    if (!conf.ok()) return faults.add(conf.status().message());
    rd_kafka_conf_set(conf->get(), "bootstrap.servers", nullptr, nullptr, 0);  // It must not connect.
    const auto client = make_client(std::move(*conf), type);
    if (client.ok()) continue;
    constexpr std::string_view kPrefix = "kafka.properties: ";
    const std::string said = client.status().message();
    const std::string why = said.starts_with(kPrefix) ? said.substr(kPrefix.size()) : said;
    const auto named = std::find_if(settings.properties.begin(), settings.properties.end(), [&](const auto& property) {
      return property.first.find('.') != std::string::npos && why.find(property.first) != std::string::npos;
    });
    if (named == settings.properties.end()) return faults.add("kafka.properties: " + why + "; correct what it names");
    return faults.about(named->first, why, "correct it, and what belongs to it");
  }
}

}  // namespace

Status check(const ClientSettings& settings) {
  Faults faults(settings.properties);
  for (const std::string& broken : check_rules(settings.properties)) faults.add("kafka.properties " + broken);
  if (const std::string wrong = first_wrong_broker(settings.bootstrap); !wrong.empty()) {
    faults.add("kafka.bootstrap has " + wrong + "; it must be host:port,host:port, as broker-1:9092");
  }
  check_values(settings.properties, faults);
  check_files(settings.properties, faults);
  if (faults.none()) check_together(settings, faults);
  return faults.status();
}

}  // namespace bloomring::kafka
