#include "pipeline/jobs/letters/replay_position.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

ReplayPosition position() {
  ReplayPosition position;
  position.until_ms = 1'795'000'000'000;
  position.parts = {{PartitionId(0), Offset(10), Offset(4711), Offset(9000)},
                    {PartitionId(3), Offset(0), Offset(0), Offset(5)}};
  return position;
}

LetterRange held(int32_t partition, int64_t from, int64_t to) {
  return {PartitionId(partition), Offset(from), Offset(to)};
}

}  // namespace

TEST_CASE("replay position: it is read as it was written, and counts what is done") {
  CHECK(encode_position(position()) ==
        R"({"v":1,"since_ms":null,"until_ms":1795000000000,"partitions":[[0,10,4711,9000],[3,0,0,5]]})");
  CHECK(*decode_position(encode_position(position())) == position());
  CHECK(position().total() == 8995);
  CHECK(position().done() == 4701);
}

TEST_CASE("replay position: anything else is kCorrupt") {
  for (const char* text :
       {"", "[]", "{", R"({"v":2,"since_ms":null,"until_ms":null,"partitions":[]})",
        R"({"v":1,"since_ms":null,"until_ms":null})", R"({"v":1,"since_ms":"x","until_ms":null,"partitions":[]})",
        R"({"v":1,"since_ms":null,"until_ms":null,"partitions":[],"more":1})",
        R"({"v":1,"since_ms":null,"until_ms":null,"partitions":[[0,1,2]]})",
        R"({"v":1,"since_ms":null,"until_ms":null,"partitions":[[0,2,1,3]]})",
        R"({"v":1,"since_ms":null,"until_ms":null,"partitions":[[0,0,4,3]]})",
        R"({"v":1,"since_ms":null,"until_ms":null,"partitions":[[0,-1,0,3]]})"}) {
    INFO(text);
    CHECK(decode_position(text).code() == Code::kCorrupt);
  }
}

TEST_CASE("replay position: what is left begins where it stopped, in a log that has grown") {
  ReplayPosition at = position();
  const auto left = ranges_left(at, {held(0, 10, 20'000), held(3, 0, 5), held(4, 0, 100)});
  REQUIRE(left.ok());
  CHECK(left->lost == 0);
  CHECK(left->ranges == std::vector<LetterRange>{held(0, 4711, 9000), held(3, 0, 5)});
  CHECK(at == position());
}

TEST_CASE("replay position: letters that retention removed before they were read are counted") {
  ReplayPosition at = position();
  const auto left = ranges_left(at, {held(0, 5000, 9000), held(3, 7, 9)});
  REQUIRE(left.ok());
  CHECK(left->lost == 289 + 5);
  CHECK(left->ranges == std::vector<LetterRange>{held(0, 5000, 9000), held(3, 5, 5)});
  CHECK(at.done() == at.total() - 4000);
}

TEST_CASE("replay position: a log that is shorter, or lacks a partition, is another one") {
  ReplayPosition at = position();
  CHECK(ranges_left(at, {held(0, 0, 8999), held(3, 0, 5)}).code() == Code::kInvalid);
  CHECK(ranges_left(at, {held(0, 0, 9000)}).code() == Code::kInvalid);
}
