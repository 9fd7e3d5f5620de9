// The range of a replay: as typed, and as kept.
#include "pipeline/jobs/replay/replay_range.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

const kafka::TopicPartition kAt{"plays", PartitionId(0)};
const LogEdges kLog{Offset(100), Offset(200)};

}  // namespace

TEST_CASE("replay range: a bound is a time or offsets, and anything else is refused with an example") {
  CHECK(parse_bound("--from", "")->open());
  CHECK(parse_bound("--from", "2026-10-01T00:00:00Z")->time_ms == 1'790'812'800'000);
  CHECK(parse_bound("--from", "1790812800000")->time_ms == 1'790'812'800'000);
  CHECK(parse_bound("--from", "0=12,3=4")->offsets == std::map<int32_t, Offset>{{0, Offset(12)}, {3, Offset(4)}});
  for (const char* wrong : {"yesterday", "-5", "0=", "=5", "0=1,", "0=1,0=2", "0=-1", "-1=4", "a=b", "0=1;1=2",
                            "99999999999=1", "2026-13-01T00:00:00Z"}) {
    const auto refused = parse_bound("--from", wrong);
    CAPTURE(wrong);
    CHECK(refused.code() == Code::kInvalid);
    CHECK(refused.status().message().find("2026-10-01T00:00:00Z") != std::string::npos);
  }
}

TEST_CASE("replay range: parts come back as they were, and other text is refused") {
  const ReplayParts parts = {{kAt, Offset(1), Offset(9), Offset(4), Offset(20)},
                             {{"plays", PartitionId(1)}, Offset(0), Offset(0), Offset(0), Offset(3)}};
  CHECK(encode_parts(parts) == R"({"parts":[["plays",0,1,9,4,20],["plays",1,0,0,0,3]]})");
  CHECK(*decode_parts(encode_parts(parts)) == parts);
  CHECK(progress_of(parts).done == 3);
  CHECK(progress_of(parts).total == 8);
  for (const char* wrong : {"", "{}", "[]", R"({"parts":3})", R"({"parts":[["plays",0,1,9,4]]})",
                            R"({"parts":[["plays",0,5,9,4,9]]})", R"({"parts":[["plays",0,1,9,10,10]]})",
                            R"({"parts":[["plays",0,1,9,4,8]]})", R"({"parts":[["plays",0,-1,9,4,9]]})",
                            R"({"parts":[["plays",0,1,9,4,9],["plays",0,1,9,4,9]]})",
                            R"({"parts":[[3,0,1,9,4,9]]})", R"({"parts":[],"more":1})"}) {
    CAPTURE(wrong);
    CHECK(decode_parts(wrong).code() == Code::kCorrupt);
  }
}

TEST_CASE("replay range: a part lies in the log, and is empty where the range is behind or before it") {
  const auto part = [](const std::string& from, const std::string& until, LogEdges log = kLog) {
    return *part_of(kAt, log, *parse_bound("--from", from), *parse_bound("--until", until));
  };
  CHECK(part("", "") == ReplayPart{kAt, Offset(100), Offset(200), Offset(100), Offset(200)});
  CHECK(part("0=150", "0=160") == ReplayPart{kAt, Offset(150), Offset(160), Offset(150), Offset(200)});
  CHECK_FALSE(part("1=150", ""));
  CHECK_FALSE(part("0=200", ""));
  CHECK(part("0=150", "0=120") == ReplayPart{kAt, Offset(150), Offset(150), Offset(150), Offset(200)});
  LogEdges timed = kLog;
  timed.from_time = Offset(120);
  timed.until_time = Offset(130);
  CHECK(part("5", "9", timed) == ReplayPart{kAt, Offset(120), Offset(130), Offset(120), Offset(200)});
  timed.until_time.reset();
  CHECK(part("5", "9", timed)->until == Offset(200));
  timed.from_time.reset();
  CHECK_FALSE(part("5", "9", timed));
  CHECK_FALSE(part("", "", {Offset(0), Offset(0)}));
}

TEST_CASE("replay range: what is left of a part is either still there, or missed by name") {
  const ReplayPart part{kAt, Offset(100), Offset(180), Offset(150), Offset(200)};
  CHECK(check_still_there(part, {Offset(150), Offset(200)}).ok());
  CHECK(check_still_there(part, {Offset(0), Offset(180)}).ok());
  const auto message = [&](int64_t start, int64_t end) {
    return check_still_there(part, {Offset(start), Offset(end)}).message();
  };
  CHECK(message(151, 200).starts_with("plays[0]: 1 records from offset 150"));
  CHECK(message(900, 990).starts_with("plays[0]: 30 records"));
  CHECK(message(0, 179).find("made again") != std::string::npos);
  const ReplayPart done{kAt, Offset(100), Offset(180), Offset(180), Offset(200)};
  CHECK(check_still_there(done, {Offset(0), Offset(0)}).ok());
}
