#include "pipeline/admin/admin_token.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/host/private_files.h"
#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("admin token: it is the configured file, or a file in the folder of the store") {
  CHECK(admin_token_path("/run/secrets/token", "/store") == "/run/secrets/token");
  CHECK(admin_token_path("", "/store") == "/store/admin.token");
}

TEST_CASE("admin token: one that is made is random, long, private, and stays at the next start") {
  const Folder folder;
  const std::string one = folder / "a/admin.token", other = folder / "b/admin.token";
  REQUIRE(make_admin_token(one).ok());
  REQUIRE(make_admin_token(other).ok());
  const std::string token = read_admin_token(one).value();
  CHECK(token.size() == 64);
  CHECK(token != read_admin_token(other).value());
  CHECK(readable_by_others(one) == "");
  REQUIRE(make_admin_token(one).ok());
  CHECK(read_admin_token(one).value() == token);
}

TEST_CASE("admin token: only the first line of a file counts, and a short one is refused") {
  const Folder folder;
  const std::string path = folder / "token";
  write_file(path, "0123456789abcdef\nthe rest\n");
  CHECK(read_admin_token(path).value() == "0123456789abcdef");
  for (const char* wrong : {"0123456789abcde\n", "\n0123456789abcdef\n", "short\r\n0123456789abcdef\r\n"}) {
    write_file(path, wrong);
    CHECK(read_admin_token(path).status().message().starts_with(path + ": its first line is no token"));
    CHECK(make_admin_token(path).code() == Code::kInvalid);  // The file that is there is not replaced.
  }
  CHECK(read_admin_token(folder / "none").code() == Code::kInvalid);
}

TEST_CASE("admin token: one that cannot be made says where") {
  const Folder folder;
  write_file(folder / "file", "x");
  CHECK(make_admin_token(folder / "file/admin.token").message().find(folder / "file/admin.token") == 0);
}

TEST_CASE("admin token: only the whole token is the token") {
  CHECK(same_token("abc", "abc"));
  for (const char* wrong : {"", "ab", "abcd", "abd", "Abc"}) CHECK_FALSE(same_token("abc", wrong));
}
