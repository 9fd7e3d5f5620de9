// Reports of jobs, as text for people and as JSON for scripts.
#include "pipeline/jobs/job_report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/pipeline/jobs/counting_job.h"

using namespace bloomring;

namespace {

constexpr int64_t kNowMs = 1'800'000'000'000;

JobRecord record_of(const std::string& name, JobState state) {
  JobRecord record;
  record.name = name;
  record.kind = "replay";
  record.unit = record.rate_unit = "records";
  record.state = state;
  record.started_ms = kNowMs - 500'000;
  record.updated_ms = kNowMs - 1'000;
  record.rate = 5'000;
  record.progress = {25, 100};
  record.parameters = {{"from", "7"}};
  record.counts = {{"written", "", 20}, {"refused", "too_large", 5}, {"refused", "not_utf8", 2}};
  return record;
}

JobBook book_of(const std::vector<JobRecord>& records) {
  JobBook book;
  for (const JobRecord& record : records) book.apply(job_key(record.name), encode_job_record(record));
  return book;
}

}  // namespace

TEST_CASE("job report: a report has state, progress, parameters, and counts by reason") {
  const JobRecord record = record_of("october", JobState::kDoneDifferences);
  const auto json = nlohmann::json::parse(report_json(record));
  CHECK(json["executed"] == true);
  CHECK(json["job"] == "october");
  CHECK(json["state"] == "done_with_differences");
  CHECK(json["parameters"] == nlohmann::json{{"from", "7"}});
  CHECK(json["counts"] == nlohmann::json{{"written", 20}, {"refused", {{"too_large", 5}, {"not_utf8", 2}}}});
  CHECK_FALSE(json.contains("position"));  // It is the job's own.
  CHECK(report_text(record) ==
        "job october, a replay: done_with_differences, 25 of 100 records\n  written: 20\n  refused, too_large: 5\n"
        "  refused, not_utf8: 2\n");
}

TEST_CASE("job report: a plan tells how long it takes, from where it goes on, and what it touches") {
  CountedWorld world;
  const CountingJob job(world, 50'000);
  JobPreview preview;
  preview.plan.total = 50'000;
  preview.plan.facts = {{"brokers", "a:9092"}};
  preview.plan.touches = {"writes numbers"};
  preview.plan.warnings = {"it is dull"};
  preview.rate = 100;
  CHECK(nlohmann::json::parse(plan_json("count", job, preview))["seconds"] == 500);
  CHECK(plan_text("count", job, preview) ==
        "job count, a count: 50000 numbers, at most 100 numbers a second, 8 minutes\n  brokers: a:9092\n"
        "  it writes numbers\n  warning: it is dull\nnothing was done; --execute starts it\n");
  preview.before = record_of("count", JobState::kStopped);
  preview.before->progress = {40'000, 50'000};
  const auto json = nlohmann::json::parse(plan_json("count", job, preview));
  CHECK(json["seconds"] == 100);
  CHECK(json["before"]["state"] == "stopped");
  CHECK(plan_text("count", job, preview).find("started before: stopped at 40000 of 50000") != std::string::npos);
}

TEST_CASE("job report: a list shows every job, its slowing, and which one was not heard of") {
  JobRecord slowed = record_of("slowed", JobState::kRunning);
  slowed.share = 0.25;
  JobRecord silent = record_of("silent", JobState::kRunning);
  silent.updated_ms = kNowMs - 90'000;
  JobRecord old = record_of("old", JobState::kDone);
  old.updated_ms = kNowMs - 900'000;
  const JobBook book = book_of({slowed, silent, old});
  CHECK(list_text(book, kNowMs) ==
        "job     kind    state                     done               rate\n"
        "old     replay  done                      25 of 100 records  5000 records/s\n"
        "silent  replay  running, silent for 90 s  25 of 100 records  5000 records/s\n"
        "slowed  replay  running                   25 of 100 records  5000 records/s, slowed to 25 %\n");
  const auto json = nlohmann::json::parse(list_json(book, kNowMs));
  REQUIRE(json["jobs"].size() == 3);
  CHECK(json["jobs"][0]["silent"] == false);
  CHECK(json["jobs"][1]["silent"] == true);
  CHECK(json["jobs"][2]["silent"] == false);
  CHECK(list_text(JobBook(), kNowMs) == "no jobs\n");
}

TEST_CASE("job report: a list of records that cannot be read says so") {
  JobBook book;
  book.apply("job/a", R"({"v":2})");
  CHECK(list_text(book, kNowMs) ==
        "no jobs\n1 records cannot be read, the first: job/a: a record of a job: it is not of version 1\n");
}

TEST_CASE("job report: the time left is told where it is known, and never from a total that was passed") {
  CHECK(seconds_left({25, 100}, 10) == 8);
  CHECK(seconds_left({100, 100}, 10) == 0);
  CHECK_FALSE(seconds_left({101, 100}, 10));  // The total was a guess: of keys, of which SCAN gives some twice.
  CHECK_FALSE(seconds_left({5, 0}, 10));
  CHECK_FALSE(seconds_left({25, 100}, 0));
  CHECK_FALSE(seconds_left({0, UINT64_MAX}, 0.001));
}
