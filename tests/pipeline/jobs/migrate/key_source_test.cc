#include "pipeline/jobs/migrate/key_source.h"

#include <catch2/catch.hpp>
#include <set>

#include "pipeline/jobs/migrate/found_file.h"
#include "tests/pipeline/jobs/migrate/legacy_bed.h"
#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

std::vector<std::string> all_of(KeySource& source) {
  std::vector<std::string> keys;
  while (true) {
    auto some = source.next();
    REQUIRE(some.ok());
    if (!*some) return keys;
    keys.insert(keys.end(), (**some).begin(), (**some).end());
  }
}

std::string lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += "hist:" + std::to_string(i) + "\n";
  return text;
}

}  // namespace

TEST_CASE("key source: a file gives its lines, without empty ones and ends of other systems") {
  const Folder folder;
  write_file(folder / "keys", "hist:1\n\nhist:2\r\nhist:3");
  ListedKeys keys(folder / "keys");
  REQUIRE(keys.begin("").ok());
  CHECK(all_of(keys) == std::vector<std::string>{"hist:1", "hist:2", "hist:3"});
  CHECK(keys.total().value() == 3);
}

TEST_CASE("key source: the file in which verify wrote what is missing names keys, each once in a row") {
  const Folder folder;
  const std::string file = folder / "missing";
  FoundFile found = FoundFile::open(file).value();
  for (const char* key : {"hist:1", "hist:1", "hist:a\nb\r", "hist:1"})
    found.add({{"key", key}, {"user", "u"}, {"member", "v"}, {"reason", "missing"}});
  REQUIRE(found.flush().ok());
  ListedKeys keys(file);
  REQUIRE(keys.begin("").ok());
  CHECK(all_of(keys) == std::vector<std::string>{"hist:1", "hist:a\nb\r", "hist:1"});
  write_file(file, "{\"key\":7}\n{\"key\":\n");  // No such lines: keys, of no pattern.
  REQUIRE(keys.begin("").ok());
  CHECK(all_of(keys) == std::vector<std::string>{"{\"key\":7}", "{\"key\":"});
}

TEST_CASE("key source: another process reads a file on from the position") {
  const Folder folder;
  write_file(folder / "keys", lines(0, 1000));
  ListedKeys first(folder / "keys");
  REQUIRE(first.begin("").ok());
  CHECK(first.next().value()->size() == ListedKeys::kKeysOfStep);
  ListedKeys second(folder / "keys");
  REQUIRE(second.begin(first.position()).ok());
  const auto rest = all_of(second);
  CHECK(rest.size() == 1000 - ListedKeys::kKeysOfStep);
  CHECK(rest.front() == "hist:200");
  REQUIRE(second.begin("").ok());
  CHECK(all_of(second).size() == 1000);
}

TEST_CASE("key source: a file that is not there, or shorter than before, is refused by its name") {
  const Folder folder;
  ListedKeys none(folder / "none");
  CHECK(none.begin("").code() == Code::kInvalid);
  CHECK(none.total().code() == Code::kInvalid);
  write_file(folder / "keys", lines(0, 10));
  ListedKeys keys(folder / "keys");
  CHECK_THAT(keys.begin("line 11 0123456789abcdef").message(),
             Catch::Contains(folder / "keys") && Catch::Contains("fewer lines"));
  CHECK(keys.begin("line x").code() == Code::kInvalid);
  CHECK(keys.begin("line 3").code() == Code::kInvalid);
  CHECK(keys.begin("line 3 0123x").code() == Code::kInvalid);
  CHECK(keys.begin("done a:1").code() == Code::kInvalid);
}

TEST_CASE("key source: a file of users gives the keys of each, in all scenes, and a line that is no user as it is") {
  const Folder folder;
  write_file(folder / "users", "17\n" + std::string(129, 'u') + "\n18\n");
  const LegacyLayout scenes =
      LegacyLayout::create({.keys = {"h:{scene}:{user}", "m:{scene}:{user}"}, .scenes = {"feed", "search"}}).value();
  const auto users = ListedUsers::open(folder / "users", scenes).value();
  REQUIRE(users->begin("").ok());
  using Keys = std::vector<std::string>;
  CHECK(all_of(*users) == Keys{"h:feed:17", "m:feed:17", "h:search:17", "m:search:17", std::string(129, 'u'),
                               "h:feed:18", "m:feed:18", "h:search:18", "m:search:18"});
  CHECK(users->total().value() == 12);
  const LegacyLayout plain = LegacyLayout::create({.keys = {"hist:{user}"}}).value();
  const auto of_plain = ListedUsers::open(folder / "users", plain).value();
  write_file(folder / "users", "17\n" + std::string(129, 'u') + "\n18\n19\n");
  REQUIRE(of_plain->begin(users->position()).ok());
  CHECK(all_of(*of_plain) == Keys{"hist:19"});
}

TEST_CASE("key source: a file of users is refused where the keys have scenes that nobody names") {
  const LegacyLayout unnamed = LegacyLayout::create({.keys = {"h:{scene}:{user}"}}).value();
  const auto refused = ListedUsers::open("users", unnamed);
  CHECK(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.status().message(), Catch::Contains("events.scenes"));
}

TEST_CASE("key source: a file with other keys before the position is refused, and one with more behind it is read on") {
  const Folder folder;
  write_file(folder / "keys", lines(0, 300));
  ListedKeys first(folder / "keys");
  REQUIRE(first.begin("").ok());
  REQUIRE(first.next().ok());
  write_file(folder / "keys", lines(0, 400));
  ListedKeys longer(folder / "keys");
  REQUIRE(longer.begin(first.position()).ok());
  CHECK(all_of(longer).size() == 200);
  write_file(folder / "keys", lines(1, 400));
  ListedKeys other(folder / "keys");
  CHECK_THAT(other.begin(first.position()).message(),
             Catch::Contains(folder / "keys") && Catch::Contains("other lines"));
}

TEST_CASE("key source: SCAN gives every key of the store, and their number") {
  LegacyBed bed;
  for (int i = 0; i < 50; ++i) bed.play("u" + std::to_string(i), 1);
  ScannedKeys keys(*bed.client, bed.layout.glob());
  REQUIRE(keys.begin("").ok());
  const auto found = all_of(keys);
  CHECK(std::set<std::string>(found.begin(), found.end()).size() == 50);
  CHECK(keys.total().value() == 50);
  CHECK(keys.begin("line 3").code() == Code::kInvalid);
}
