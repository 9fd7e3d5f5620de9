// Rules for the value of one key, as `Config` checks them: each returns "must ..." for a text that breaks it, and an
// empty text for another.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bloomring {

// The most bytes that a key may set, 1 TiB: more than a machine has, and too few to overflow in sums.
inline constexpr int64_t kBytesMax = int64_t{1} << 40;
// As serve.replica_index: the number at the end of the pod's name.
inline constexpr std::string_view kOrdinal = "ordinal";

std::string must_not_be_empty(const std::string& text);
// Accepts the topic names that a Kafka broker accepts.
std::string must_be_topic(const std::string& name);
// Restricts group and instance names, which appear at brokers, in file names and in metrics.
std::string must_be_word(const std::string& text);
std::string must_be_time_zone(const std::string& name);
std::string must_be_address(const std::string& text);
std::string must_be_address_or_empty(const std::string& text);
std::string must_be_host_name(const std::string& text);

}  // namespace bloomring
