#include "pipeline/jobs/export/export_position.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

const kafka::TopicPartition kAt{"plays", PartitionId(3)};

}  // namespace

TEST_CASE("export position: what is written is read, with and without an end") {
  const ExportParts parts = {{kAt, Offset(5), Offset(9)}, {{"more", PartitionId(0)}, Offset(0), Offset(0), Offset(7)}};
  CHECK(encode_export(parts) == R"({"parts":[["plays",3,5,9,null],["more",0,0,0,7]]})");
  CHECK(*decode_export(encode_export(parts)) == parts);
  CHECK(decode_export(R"({"parts":[]})")->empty());
}

TEST_CASE("export position: a text of another form is corrupt") {
  for (const char* text : {"", "{}", "[]", R"({"parts":7})", R"({"parts":[["plays",3,5,9]]})",
                           R"({"parts":[["plays",3,9,5,null]]})", R"({"parts":[["plays",3,-5,9,null]]})",
                           R"({"parts":[["plays",3,5,9,"x"]]})", R"({"parts":[["plays",3,5,9,null]],"more":1})",
                           R"({"parts":[["plays",3,5,9,null],["plays",3,5,9,null]]})"}) {
    INFO(text);
    CHECK(decode_export(text).code() == Code::kCorrupt);
  }
}

TEST_CASE("export position: the first start begins and ends where it was told") {
  const LogEdges log{Offset(10), Offset(20), Offset(15), Offset(18)};
  const ReplayBound time{1}, offsets{{}, {{3, Offset(12)}}}, others{{}, {{0, Offset(12)}}};
  const auto first = [&](const ReplayBound& from, const std::string& until) {
    return first_part(kAt, log, from, *parse_export_end(until));
  };
  CHECK(*first({}, "") == ExportPart{kAt, Offset(10), Offset(10)});
  CHECK(*first({}, "now") == ExportPart{kAt, Offset(10), Offset(10), Offset(20)});
  CHECK(*first(time, "1764000000000") == ExportPart{kAt, Offset(15), Offset(15), Offset(18)});
  CHECK(*first(offsets, "3=13") == ExportPart{kAt, Offset(12), Offset(12), Offset(13)});
  CHECK(first(others, "").code() == Code::kInvalid);
  CHECK(first({}, "0=13").code() == Code::kInvalid);
  CHECK(first({}, "3=21").code() == Code::kInvalid);
  CHECK_FALSE(parse_export_end("soon").ok());
  // Nothing is there yet from this time on: the part begins at the end, and what comes is in it.
  const LogEdges later{Offset(10), Offset(20)};
  CHECK(*first_part(kAt, later, time, *parse_export_end("")) == ExportPart{kAt, Offset(20), Offset(20)});
  CHECK(first_part(kAt, later, time, *parse_export_end("now"))->ended());
}

TEST_CASE("export position: records that retention took, or a log that is shorter, are said and not passed over") {
  const LogEdges log{Offset(10), Offset(20)};
  const auto check = [&](int64_t next) { return check_followed({kAt, Offset(0), Offset(next)}, log); };
  CHECK(check(10).ok());
  CHECK(check(20).ok());
  CHECK(check(9).code() == Code::kFatal);
  CHECK_THAT(check(4).message(), Catch::Contains("6 records from offset 4 on"));
  CHECK(check(21).code() == Code::kFatal);
  CHECK(check_followed({kAt, Offset(0), Offset(5), Offset(5)}, log).ok());
}
