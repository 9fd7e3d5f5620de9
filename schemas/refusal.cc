#include "schemas/refusal.h"

#include <array>

namespace bloomring {

namespace {

constexpr std::array<std::string_view, kRefusalCount> kRefusalNames = {
    "none",       "malformed_json", "missing_field", "wrong_type", "empty_id",  "id_too_long",   "time_too_early",
    "time_ahead", "unknown_event",  "too_large",     "not_utf8",   "bad_block", "bad_batch",     "unknown_scene",
    "repeated_field", "forget_not_allowed"};

}  // namespace

std::string_view refusal_name(Refusal refusal) { return kRefusalNames[static_cast<size_t>(refusal)]; }

}  // namespace bloomring
