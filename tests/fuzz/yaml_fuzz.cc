// Any bytes as a configuration file, and as one value of it: refused with the line and a reason, or read; what is read
// can be written on one line and read again.
#include <algorithm>

#include "base/config/config_text.h"
#include "base/config/listen_address.h"

using namespace bloomring;

namespace {

bool is_section(std::string_view name) { return name == "ring" || name == "kafka" || name == "serve"; }

void check_file(const std::string& text) {
  const auto entries = read_config_yaml(text, "f", is_section);
  if (!entries.ok()) {
    const std::string message = entries.status().message();
    BLOOMRING_CHECK(entries.code() == Code::kInvalid, "refused as invalid");
    BLOOMRING_CHECK(message.starts_with("f:") && std::stoi(message.substr(2)) >= 1, "with its line: " + message);
    return;
  }
  for (const ConfigEntry& entry : *entries) {
    BLOOMRING_CHECK(entry.line >= 1, "each key has its line");
    BLOOMRING_CHECK(!is_section(entry.key) || entry.text.kind != ConfigText::Kind::kMap, "a section is no value");
  }
}

bool is_plain(std::string_view word) {
  return std::ranges::all_of(word, [](char c) { return (c >= ' ' && c < '\x7f') || c == '\n'; });
}

// False for what the library writes as other characters: bytes that are not UTF-8, and line ends of Unicode.
bool is_plain(const ConfigText& text) {
  const auto plain_entry = [](const auto& entry) { return is_plain(entry.first) && is_plain(entry.second); };
  return is_plain(text.scalar) && std::ranges::all_of(text.entries, plain_entry) &&
         std::ranges::all_of(text.items, [](const std::string& item) { return is_plain(item); });
}

void check_value(const std::string& text) {
  const auto value = read_config_value(text);
  if (!value.ok()) {
    BLOOMRING_CHECK(value.code() == Code::kInvalid && !value.status().message().empty(), "refused with a reason");
    return;
  }
  if (!is_plain(*value)) return;
  const std::string written = yaml_scalar(*value);
  const auto again = read_config_value(written);
  BLOOMRING_CHECK(again.ok() && again->kind == value->kind, "what is read can be written and read: " + written);
  BLOOMRING_CHECK(again->scalar == value->scalar && again->items == value->items, "with the same words: " + written);
  BLOOMRING_CHECK(again->entries == value->entries, "and entries: " + written);
}

void check_address(const std::string& text) {
  const auto address = parse_listen_address(text);
  if (!address.ok()) {
    BLOOMRING_CHECK(address.code() == Code::kInvalid && !address.status().message().empty(), "refused with a reason");
    return;
  }
  const auto again = parse_listen_address(address->to_string());
  BLOOMRING_CHECK(!address->host.empty() && again.ok(), "an address can be written and read");
  BLOOMRING_CHECK(again->host == address->host && again->port == address->port, "and is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_file(text);
  check_value(text);
  check_address(text);
  return 0;
}
