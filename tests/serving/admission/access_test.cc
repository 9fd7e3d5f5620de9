#include "serving/admission/access.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "tests/support/folder.h"
#include "tests/support/write_file.h"

using namespace bloomring;
using namespace bloomring::testing;

namespace {

using Names = std::vector<std::string>;

AccessList list_of(const std::string& text) {
  auto list = AccessList::parse(text, "F");
  INFO(list.status().message());
  REQUIRE(list.ok());
  return std::move(*list);
}

std::string complaint(const std::string& text) { return AccessList::parse(text, "F").status().message(); }

}  // namespace

TEST_CASE("access: a name has the rights of its lines, and no others") {
  const AccessList list = list_of("# who\nread reader\n\n  write\twriter # here\nreplica r0\nread both\nwrite both\n");
  CHECK(list.may(Names{"reader"}, Right::kRead));
  CHECK_FALSE(list.may(Names{"reader"}, Right::kWrite));
  CHECK_FALSE(list.may(Names{"writer"}, Right::kRead));
  CHECK(list.may(Names{"writer"}, Right::kWrite));
  CHECK(list.may(Names{"r0"}, Right::kRead));
  CHECK(list.may(Names{"r0"}, Right::kWrite));
  CHECK(list.may(Names{"both"}, Right::kRead));
  CHECK(list.may(Names{"both"}, Right::kWrite));
}

TEST_CASE("access: what no line gives is denied, to nobody and by an empty list too") {
  for (const Right right : {Right::kRead, Right::kWrite}) {
    CHECK_FALSE(list_of("read a\nwrite a\n").may(Names{"b"}, right));
    CHECK_FALSE(list_of("read a\nwrite a\n").may(Names{}, right));
    CHECK_FALSE(list_of("").may(Names{"a"}, right));
    CHECK_FALSE(list_of("# read *\n").may(Names{"a"}, right));
  }
}

TEST_CASE("access: a name is compared whole, in its case, and any of the caller's names is enough") {
  const AccessList list = list_of("read a.internal\n");
  for (const char* other : {"a.interna", "a.internal.evil", "xa.internal", "A.internal", "*", "", "a.internal "}) {
    INFO(other);
    CHECK_FALSE(list.may(Names{other}, Right::kRead));
  }
  CHECK(list.may(Names{"other", "a.internal"}, Right::kRead));
}

TEST_CASE("access: a star is everybody for its right alone") {
  const AccessList list = list_of("read *\nwrite one\n");
  CHECK(list.may(Names{}, Right::kRead));
  CHECK(list.may(Names{"any"}, Right::kRead));
  CHECK_FALSE(list.may(Names{"any"}, Right::kWrite));
}

TEST_CASE("access: a line that is none is refused with its number") {
  for (const char* wrong : {"read", "reads a", "read a b", "a", "admin a", "READ a"}) {
    INFO(wrong);
    CHECK(complaint(std::string("read x\n") + wrong + "\n").starts_with("F:2: a line is `read NAME`"));
  }
}

TEST_CASE("access: without a list everybody may do everything") {
  const Access access;
  CHECK(access.may(Names{}, Right::kWrite));
}

TEST_CASE("access: a file that changes counts at once, and one that becomes wrong leaves the list as it was") {
  const Folder folder;
  const std::string path = folder / "access";
  write_file(path, "read a\n");
  auto opened = Access::open(path);
  REQUIRE(opened.ok());
  Access& access = **opened;
  write_file(path, "read b\n");
  CHECK(access.may(Names{"a"}, Right::kRead));
  access.refresh();
  CHECK_FALSE(access.may(Names{"a"}, Right::kRead));
  CHECK(access.may(Names{"b"}, Right::kRead));
  write_file(path, "everything for everybody\n");
  access.refresh();
  CHECK(access.may(Names{"b"}, Right::kRead));
  CHECK_FALSE(access.may(Names{"c"}, Right::kRead));
  std::filesystem::remove(path);
  access.refresh();
  CHECK(access.may(Names{"b"}, Right::kRead));
  write_file(path, "read b\nread c\n");
  access.refresh();
  CHECK(access.may(Names{"c"}, Right::kRead));
}

TEST_CASE("access: a file that is absent, a folder, wrong or too large ends the start with its name") {
  const Folder folder;
  CHECK(Access::open(folder / "none").status().message().starts_with(folder / "none: cannot be read"));
  CHECK(Access::open(folder.path()).code() == Code::kInvalid);
  write_file(folder / "wrong", "read\n");
  CHECK(Access::open(folder / "wrong").status().message().starts_with((folder / "wrong") + ":1: a line is"));
  write_file(folder / "large", std::string((1 << 20) + 1, '#'));
  CHECK(Access::open(folder / "large").code() == Code::kInvalid);
}
