#include "pipeline/letters/letter_table.h"

#include <catch2/catch.hpp>

#include "tests/pipeline/letters/dead_record.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("letter table: each reason has its count, bytes, first and last time and sources, in any order of times") {
  LetterTable table;
  table.add(dead("empty_id", 7, "plays", 1));
  table.add(dead("empty_id", 5, "plays", 1));
  table.add(dead("empty_id", 9, "others", 4));
  table.add(dead("too_large", 6));
  const LetterTable::Row& row = table.rows().at("empty_id");
  CHECK(row.letters == 3);
  CHECK(row.bytes == 30);
  CHECK(row.first_ms == 5);
  CHECK(row.last_ms == 9);
  CHECK(row.sources.at("plays").letters == 2);
  CHECK(row.sources.at("plays").partitions == std::set<int32_t>{1});
  CHECK(row.sources.at("others").partitions == std::set<int32_t>{4});
  CHECK(table.rows().size() == 2);
  CHECK(table.letters() == 4);
  CHECK(table.foreign().letters == 0);
}

TEST_CASE("letter table: what was cut or put back before is counted") {
  LetterTable table;
  DeadRecord cut = dead("too_large", 1), again = dead("too_large", 2);
  cut.letter->value_bytes = 2'000'000;
  again.letter->replays = 1;
  table.add(cut);
  table.add(again);
  CHECK(table.rows().at("too_large").cut == 1);
  CHECK(table.rows().at("too_large").replayed == 1);
}

TEST_CASE("letter table: foreign records are counted by themselves") {
  LetterTable table;
  table.add({.log_time_ms = 3, .bytes = 12, .letter = {}});
  CHECK(table.foreign().letters == 1);
  CHECK(table.foreign().bytes == 12);
  CHECK(table.letters() == 0);
  CHECK(table.rows().empty());
}

TEST_CASE("letter table: reasons, topics and partitions of any number take no more room") {
  LetterTable table;
  for (int i = 0; i < 10'000; ++i) {
    table.add(dead("reason-" + std::to_string(i), i, "topic-" + std::to_string(i % 100), i));
    table.add(dead("empty_id", i, "plays", i));
  }
  REQUIRE(table.rows().size() == 2);
  const LetterTable::Row& other = table.rows().at("other");
  CHECK(other.letters == 10'000);
  CHECK(other.sources.size() == LetterTable::kSourcesMax);
  CHECK(other.other_sources == 6'800);
  CHECK(table.rows().at("empty_id").sources.at("plays").partitions.size() == LetterTable::kPartitionsMax);
}
