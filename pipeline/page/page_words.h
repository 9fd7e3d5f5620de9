// Texts of the operations page that HTML and plain text share: numbers, times, states.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "state/window/ring.h"

namespace bloomring {

std::string count_text(int64_t number);                       // "1,234,567"
std::string count_text(const std::optional<int64_t>& number);  // "-" where it is not known.
std::string rate_text(const std::optional<double>& a_second);  // "0", "0.25", "17.3", "1,234", or "-".
std::string seconds_text(double seconds);                      // "0.3", "17", "1,234"
std::string delay_text(const std::optional<double>& seconds);  // "0.4 ms", "83 ms", "2.5 s", "1,234 s", or "-".
std::string duration_text(int64_t ms);                         // "4 s", "3 min", "2 h 5 min", "3 d 4 h"
std::string size_text(uint64_t bytes);                        // "12 B", "3.4 MiB"
std::string time_text(int64_t ms);                             // "2026-11-02 10:15:00Z"
std::string hour_text(int64_t ms);                             // "11-02 10:00Z"; of shorter slots with seconds.

// The letter of a state: states are told apart by it, and not by colour alone.
char letter_of(SlotState state);

// At most `bytes` of the text, valid UTF-8 without control characters; with an ellipsis where it was cut.
std::string clean(std::string_view text, size_t bytes);

}  // namespace bloomring
