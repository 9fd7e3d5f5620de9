#include "pipeline/kafka/trouble.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include "pipeline/kafka/broker_list.h"

namespace bloomring::kafka {
namespace {

constexpr size_t kAddressesMax = 1000;  // Far more than the brokers of a cluster.

struct Troubles {
  std::mutex mutex;
  std::map<std::string, std::string> of;  // By "host:port".
};

Troubles& troubles() {
  static Troubles all;
  return all;
}

bool has(std::string_view line, std::string_view words) { return line.find(words) != std::string_view::npos; }

// The meaning of the answer's first four bytes, which librdkafka took for a length.
std::string meaning_of_size(unsigned long size) {
  if (size == 0x48545450) return "that port speaks HTTP, and belongs to no Kafka broker";
  if (size >> 16 == 0x1503) {
    return "that port expects TLS; set security.protocol to SSL or SASL_SSL under kafka.properties";
  }
  return "that port does not speak Kafka's protocol, or expects TLS (security.protocol under "
         "kafka.properties)";
}

// "127.0.0.1:8080" of "...: 127.0.0.1:8080/bootstrap: Receive failed".
std::string address_in(std::string_view line) {
  size_t end = line.find("/bootstrap: ");
  if (end == std::string_view::npos) return "";
  const size_t begin = line.find_last_of(" /", end - 1) + 1;
  return std::string(line.substr(begin, end - begin));
}

}  // namespace

std::string meaning_of(std::string_view line) {
  constexpr std::string_view kSize = "Invalid response size ";
  const size_t at = line.find(kSize);
  if (at != std::string_view::npos) {
    const std::string digits(line.substr(at + kSize.size(), 12));
    return meaning_of_size(std::strtoul(digits.c_str(), nullptr, 10));
  }
  if (has(line, "wrong version number")) {
    return "that port does not expect TLS; set security.protocol to PLAINTEXT or SASL_PLAINTEXT under kafka.properties";
  }
  if (has(line, "certificate verify failed") || has(line, "certificate could not be verified")) {
    return "the broker's certificate is not of an authority in ssl.ca.location under kafka.properties";
  }
  return "";
}

void note_trouble(std::string_view line) {
  const std::string meaning = meaning_of(line), address = address_in(line);
  if (meaning.empty() || address.empty()) return;
  const std::lock_guard lock(troubles().mutex);
  if (troubles().of.size() < kAddressesMax) troubles().of[address] = meaning;
}

std::string trouble_with(const std::string& bootstrap) {
  const std::lock_guard lock(troubles().mutex);
  for (const std::string& address : broker_addresses(bootstrap)) {
    const auto found = troubles().of.find(address);
    if (found != troubles().of.end()) return address + ": " + found->second;
  }
  return "";
}

}  // namespace bloomring::kafka
