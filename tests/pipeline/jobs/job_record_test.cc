// The record of a job: its bytes, which outlive the process, and everything else that a topic may hold in its place.
#include "pipeline/jobs/job_record.h"

#include <catch2/catch.hpp>
#include <string>

using namespace bloomring;

namespace {

JobRecord full_record() {
  JobRecord record;
  record.name = "history";
  record.kind = "replay";
  record.unit = "blocks";
  record.rate_unit = "plays";
  record.state = JobState::kDoneDifferences;
  record.run = "0123456789abcdef";
  record.started_ms = 1'790'000'000'000;
  record.updated_ms = 1'790'000'002'000;
  record.rate = 2500.5;
  record.share = 0.25;
  record.slowed_by = "ingest is 4 s behind";
  record.progress = {10, 100};
  record.error = "it's \"gone\"\n";
  record.parameters = {{"topic", "plays"}, {"from", "2026-10-01T00:00:00Z"}};
  record.counts = {{"refused", "malformed_json", 3}, {"plays", "", 7}};
  record.position = R"({"next":[1,2]})";
  return record;
}

constexpr const char* kGolden =
    R"({"v":1,"name":"history","kind":"replay","unit":"blocks","rate_unit":"plays","state":"done_with_differences",)"
    R"("run":"0123456789abcdef","started_ms":1790000000000,"updated_ms":1790000002000,"rate":2500.5,"share":0.25,)"
    R"("slowed_by":"ingest is 4 s behind","done":10,"total":100,"error":"it's \"gone\"\n",)"
    R"("parameters":[["topic","plays"],["from","2026-10-01T00:00:00Z"]],)"
    R"("counts":[["refused","malformed_json",3],["plays","",7]],"position":"{\"next\":[1,2]}"})";

}  // namespace

TEST_CASE("job record: its bytes are those of the format, and come back as they were") {
  CHECK(encode_job_record(full_record()) == kGolden);
  const auto back = decode_job_record(kGolden);
  REQUIRE(back.ok());
  CHECK(*back == full_record());
}

TEST_CASE("job record: anything else in its place is refused with the reason") {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kGolden;
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> wrong[] = {
      {"", "no JSON object"},
      {"[1]", "no JSON object"},
      {std::string(kGolden).substr(0, 100), "no JSON object"},
      {with(R"("v":1)", R"("v":2)"), "not of version 1"},
      {with(R"("v":1,)", ""), "not of version 1"},
      {with(R"("kind":"replay",)", ""), "field kind is missing"},
      {with(R"("done":10)", R"("done":-1)"), "field done is not a count"},
      {with(R"("done":10)", R"("done":"10")"), "field done is not a count"},
      {with("done_with_differences", "asleep"), "state asleep is unknown"},
      {with(R"("v":1)", R"("v":1,"more":0)"), "field more is unknown"},
      {with(R"(["topic","plays"])", R"(["topic"])"), "a parameter is not a name and a value"},
      {with(R"(["plays","",7])", R"(["plays","",-7])"), "a count is not a name, a reason and a number"},
      {with(R"("name":"history")", R"("name":"His tory")"), "no name of a job"},
  };
  for (const auto& [text, why] : wrong) {
    const auto refused = decode_job_record(text);
    CHECK(refused.code() == Code::kCorrupt);
    CHECK(refused.status().message().find(why) != std::string::npos);
  }
}

TEST_CASE("job record: text that is no UTF-8 is kept as far as it is") {
  JobRecord record = full_record();
  record.error = "bad \xff byte";
  const auto back = decode_job_record(encode_job_record(record));
  REQUIRE(back.ok());
  CHECK(back->error == "bad \xef\xbf\xbd byte");
}

TEST_CASE("job record: a rate is a number above 0") {
  CHECK(encode_job_rate(2000) == R"({"v":1,"rate":2000.0})");
  CHECK(*decode_job_rate(R"({"v":1,"rate":2000})") == 2000);
  for (const char* wrong : {"", "{}", R"({"v":1,"rate":0})", R"({"v":1,"rate":-1})", R"({"v":1,"rate":"9"})",
                            R"({"v":1})", R"({"v":1,"rate":1,"x":1})"})
    CHECK(decode_job_rate(wrong).code() == Code::kCorrupt);
}
