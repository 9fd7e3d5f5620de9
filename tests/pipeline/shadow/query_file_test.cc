#include "pipeline/shadow/query_file.h"

#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

const std::string kQuery = R"({"user":"u1","candidates":["v1"]})";

std::vector<std::string> users(QueryFile& file) {
  std::vector<std::string> found;
  while (!file.ended()) {
    auto query = file.next();
    REQUIRE(query.ok());
    if (*query) found.push_back((*query)->user);
  }
  return found;
}

}  // namespace

TEST_CASE("query file: every line is a query, the last one also without its end, and empty ones are none") {
  const Folder folder;
  write_file(folder / "queries", kQuery + "\n\n \r\n" + R"({"user":"u2","candidates":[]})" + "\r\n" +
                                     R"({"user":"u3","candidates":[1]})");
  QueryFile file = QueryFile::open(folder / "queries").value();
  CHECK(users(file) == std::vector<std::string>{"u1", "u2", "u3"});
  CHECK(file.refused() == 0);
}

TEST_CASE("query file: a line that is no query, or too long, is counted, and those behind it are read") {
  const Folder folder;
  write_file(folder / "queries", "x\n" + std::string(3 * QueryFile::kLineBytesMax, 'x') + "\n" + kQuery + "\n{}\n");
  QueryFile file = QueryFile::open(folder / "queries").value();
  CHECK(users(file) == std::vector<std::string>{"u1"});
  CHECK(file.refused() == 3);
}

TEST_CASE("query file: an empty file ends at once, and one that is not there is refused") {
  const Folder folder;
  write_file(folder / "queries", "");
  QueryFile file = QueryFile::open(folder / "queries").value();
  CHECK(users(file).empty());
  CHECK(QueryFile::open(folder / "none").code() == Code::kInvalid);
}

TEST_CASE("query file: it does not wait for a pipe, and a query may come in pieces") {
  const Folder folder;
  const std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int both = ::open(path.c_str(), O_RDWR);  // So that opening it does not wait.
  REQUIRE(both >= 0);
  QueryFile file = QueryFile::open(path).value();
  CHECK_FALSE(file.next()->has_value());
  CHECK_FALSE(file.ended());
  const std::string begin = kQuery.substr(0, 9), rest = kQuery.substr(9) + "\n";
  REQUIRE(::write(both, begin.data(), begin.size()) == 9);
  CHECK_FALSE(file.next()->has_value());
  REQUIRE(::write(both, rest.data(), rest.size()) == static_cast<ssize_t>(rest.size()));
  const auto query = file.next();
  REQUIRE(query.ok());
  REQUIRE(query->has_value());
  CHECK((*query)->user == "u1");
  CHECK_FALSE(file.next()->has_value());
  ::close(both);
  CHECK(users(file).empty());
}
