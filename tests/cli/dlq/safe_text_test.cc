#include "cli/dlq/safe_text.h"

#include <catch2/catch.hpp>

using namespace bloomring::cli;

TEST_CASE("safe text: printable text of any language stays, and a backslash is told from an escape") {
  CHECK(safe_text("{\"user\":\"u1\"}") == "{\"user\":\"u1\"}");
  CHECK(safe_text("視聴 Ünïcode \xf0\x9f\x8e\xac") == "視聴 Ünïcode \xf0\x9f\x8e\xac");
  CHECK(safe_text("a\\nb") == "a\\\\nb");
  CHECK(safe_text("").empty());
}

TEST_CASE("safe text: nothing that a terminal obeys comes through, in any byte or character") {
  for (int byte = 0; byte < 256; ++byte) {
    for (const char c : safe_text(std::string(3, static_cast<char>(byte)) + " \x9b" "31m")) {
      const auto shown = static_cast<unsigned char>(c);
      INFO(byte);
      CHECK((shown >= 0x20 && shown < 0x7f));
    }
  }
  CHECK(safe_text("\x1b]0;title\x07") == "\\x1b]0;title\\x07");
  CHECK(safe_text("a\nb\rc\td") == "a\\nb\\rc\\td");
  CHECK(safe_text("\xc2\x9b" "31m") == "\\xc2\\x9b31m");          // CSI as a character of C1.
  CHECK(safe_text("\xe2\x80\xaegpj.exe") == "\\xe2\\x80\\xaegpj.exe");  // Turns the direction.
  CHECK(safe_text("\xe2\x80\x8b") == "\\xe2\\x80\\x8b");           // Zero width.
  CHECK(safe_text("\xf3\xa0\x81\x81") == "\\xf3\\xa0\\x81\\x81");  // A tag.
}

TEST_CASE("safe text: bytes that are no UTF-8 are shown one by one") {
  CHECK(safe_text("a\xff\xc3") == "a\\xff\\xc3");
  CHECK(safe_text("\xc0\xaf") == "\\xc0\\xaf");              // Overlong.
  CHECK(safe_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");     // A surrogate.
  CHECK(safe_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK_FALSE(is_utf8("a\xff"));
  CHECK(is_utf8("aé"));
}

TEST_CASE("safe text: the first bytes of a text end with a whole character") {
  CHECK(first_bytes("abc", 3) == "abc");
  CHECK(first_bytes("abc", 2) == "ab");
  CHECK(first_bytes("aé", 2) == "a");
  CHECK(first_bytes("\x80\x80\x80\x80\x80\x80", 5) == "\x80\x80\x80\x80\x80");
}

TEST_CASE("safe text: every string of a JSON value is made safe, names too") {
  const nlohmann::ordered_json json = {{"a\x1b", {"\x1b[2J", 5}}, {"b", {{"c", "\n"}}}};
  CHECK(safe_json(json).dump() == R"({"a\\x1b":["\\x1b[2J",5],"b":{"c":"\\n"}})");
}
