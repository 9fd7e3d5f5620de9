// The fold of the topic of jobs.
#include "pipeline/jobs/job_book.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::string record_of(const std::string& name, uint64_t done) {
  JobRecord record;
  record.name = name;
  record.kind = "replay";
  record.progress.done = done;
  return encode_job_record(record);
}

}  // namespace

TEST_CASE("job book: the last record of a job counts, and an empty one removes it") {
  JobBook book;
  book.apply("job/a", record_of("a", 1));
  book.apply("job/b", record_of("b", 2));
  book.apply("job/a", record_of("a", 3));
  REQUIRE(book.jobs().size() == 2);
  CHECK(book.find("a")->progress.done == 3);
  book.apply("job/a", "");
  CHECK(book.find("a") == nullptr);
  CHECK(book.find("b")->progress.done == 2);
}

TEST_CASE("job book: the last rate that was asked for counts") {
  JobBook book;
  CHECK_FALSE(book.wished_rate("a"));
  book.apply("rate/a", encode_job_rate(100));
  book.apply("rate/a", encode_job_rate(300));
  CHECK(book.wished_rate("a") == 300);
  CHECK_FALSE(book.wished_rate("b"));
  book.apply("rate/a", "");
  CHECK_FALSE(book.wished_rate("a"));
}

TEST_CASE("job book: what cannot be read is counted, and changes nothing") {
  JobBook book;
  book.apply("job/a", record_of("a", 1));
  book.apply("job/a", "garbage");
  book.apply("job/a", record_of("b", 5));
  book.apply("rate/a", "garbage");
  book.apply("something", "else");
  CHECK(book.unreadable() == 4);
  CHECK(book.first_unreadable().starts_with("job/a: "));
  CHECK(book.find("a")->progress.done == 1);
  CHECK_FALSE(book.wished_rate("a"));
}
