// Reads plays one at a time, as ingest would at one moment, for tests of the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "schemas/json/play_json.h"

namespace bloomring {

inline constexpr int64_t kNowMs = 1'649'314'900'000;  // 2022-04-07 07:01:40 UTC.

// Keeps the last play. Its views live until the next record.
struct Reader {
  explicit Reader(PlayMapping mapping = {}) : parser(std::move(mapping)) {}
  Refusal read(std::string_view json) {
    record = json;
    return parser.parse(record, kNowMs, play);
  }

  std::string record;  // The bytes of the views.
  PlayParser parser;
  Play play;
};

}  // namespace bloomring
