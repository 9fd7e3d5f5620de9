// The topic of the second view (tests/pipeline/stages/last_played_view.h): a row, and nothing else.
#pragma once

#include <algorithm>
#include <array>

#include "schemas/topics.h"

namespace bloomring::testing {

inline constexpr TopicRole kLastPlayedBatches{"last-played-batches"};

// The rows of the product and this one. Live as long as the program.
inline TopicRows rows_with_last_played() {
  static const std::array<TopicRow, 5> kRows = [] {
    std::array<TopicRow, 5> rows;
    std::ranges::copy(topic_rows(), rows.begin());
    rows.back() = {.role = kLastPlayedBatches,
                   .key = "topics.last_played_batches",
                   .default_name = "last-played-batches",
                   .content = "user batches and slot ends, for the last-played stage",
                   .of_a_user = "the user's id, hashes of items",
                   .retention_factor = 2};
    return rows;
  }();
  return kRows;
}

}  // namespace bloomring::testing
