#include "pipeline/settings/keys/value_rules.h"

#include <algorithm>
#include <cctype>

#include "absl/time/time.h"
#include "base/config/listen_address.h"

namespace bloomring {

namespace {

bool is_name(const std::string& text, size_t size_max) {
  const auto legal = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= size_max && std::all_of(text.begin(), text.end(), legal);
}

}  // namespace

std::string must_not_be_empty(const std::string& text) { return text.empty() ? "must not be empty" : ""; }

std::string must_be_topic(const std::string& name) {
  const bool ok = is_name(name, 249) && name != "." && name != "..";
  return ok ? "" : "must be a topic name: 1 to 249 of a-z A-Z 0-9 . _ -";
}

std::string must_be_word(const std::string& text) {
  return is_name(text, 200) ? "" : "must be 1 to 200 of a-z A-Z 0-9 . _ -";
}

std::string must_be_time_zone(const std::string& name) {
  absl::TimeZone zone;
  return absl::LoadTimeZone(name, &zone) ? ""
                                         : "must be an IANA time zone that this machine knows, as UTC or Asia/Shanghai";
}

std::string must_be_address(const std::string& text) {
  return parse_listen_address(text).ok() ? "" : "must be host:port, as 127.0.0.1:9600, with port 0 for any free one";
}

std::string must_be_host_name(const std::string& text) {
  const bool name = !text.empty() && text.find_first_of(":/@[]* ") == std::string::npos;
  return name ? "" : "must be the name of a host alone, as bloomring.internal, without a port";
}

std::string must_be_address_or_empty(const std::string& text) { return text.empty() ? "" : must_be_address(text); }

}  // namespace bloomring
