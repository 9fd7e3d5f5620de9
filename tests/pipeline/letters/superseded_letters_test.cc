#include "pipeline/letters/superseded_letters.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

DeadRecord dead(int64_t offset, const std::string& value, const std::string& replayed_from = "") {
  Letter letter;
  letter.value = value;
  letter.replayed_from = replayed_from;
  return {.partition = PartitionId(0), .offset = Offset(offset), .letter = letter};
}

}  // namespace

TEST_CASE("superseded letters: a letter that was put back and refused again gives way to the later one") {
  SupersededLetters letters;
  letters.add(dead(17, "v"));
  letters.add(dead(99, "v", "plays-dead[0]@17"));
  CHECK(letters.contains("plays-dead", dead(17, "v")));
  CHECK_FALSE(letters.contains("plays-dead", dead(99, "v", "plays-dead[0]@17")));
  CHECK_FALSE(letters.contains("plays-dead", dead(18, "v")));
  CHECK_FALSE(letters.contains("other-dead", dead(17, "v")));
}

TEST_CASE("superseded letters: a header alone, with another value, hides nothing") {
  SupersededLetters letters;
  letters.add(dead(99, "another", "plays-dead[0]@17"));
  CHECK_FALSE(letters.contains("plays-dead", dead(17, "v")));
  DeadRecord cut = dead(17, "another");
  cut.letter->value_bytes = 2'000'000;
  CHECK_FALSE(letters.contains("plays-dead", cut));
}
