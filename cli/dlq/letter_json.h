// Dead letters as JSON, for `bloomring dlq`.
// Threading: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/letters/letter.h"
#include "pipeline/letters/letter_table.h"
#include "schemas/json/play_json.h"

namespace bloomring::cli {

inline constexpr size_t kShownBytesMax = 4096;  // Of a key, a value, a header.

// {"reasons":[{"reason":"missing_field","letters":2,...,"sources":[{"topic":"plays","partitions":1,"letters":2}]}],...}
nlohmann::ordered_json table_json(const LetterTable& table);
// The same for people: the sources of a reason in one cell, as "plays (3 partitions)".
nlohmann::ordered_json table_rows(const LetterTable& table);

// One record: where it came from, why, and the play that ingest would make of it now. `parser` has the mapping of now.
nlohmann::ordered_json record_json(const DeadRecord& record, PlayParser& parser, int64_t now_ms);

// On one line, of ASCII alone: safe for a terminal as it is.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace bloomring::cli
