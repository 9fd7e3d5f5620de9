#include "pipeline/page/page_words.h"

#include <catch2/catch.hpp>
#include <set>

#include "pipeline/page/html_text.h"

using namespace bloomring;

TEST_CASE("page words: a delay has the unit in which a person reads it") {
  CHECK(delay_text(std::nullopt) == "-");
  CHECK(delay_text(0.0) == "0.0 ms");
  CHECK(delay_text(0.00042) == "0.4 ms");
  CHECK(delay_text(0.083) == "83 ms");
  CHECK(delay_text(0.9994) == "999 ms");
  CHECK(delay_text(1.0) == "1.0 s");
  CHECK(delay_text(1'234.0) == "1,234 s");
}

TEST_CASE("page: numbers, sizes and times are short, and what is unknown is a dash") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1'000) == "1,000");
  CHECK(count_text(-1'234'567) == "-1,234,567");
  CHECK(count_text(std::optional<int64_t>()) == "-");
  CHECK(rate_text(std::nullopt) == "-");
  CHECK(rate_text(0.0) == "0");
  CHECK(rate_text(0.254) == "0.25");
  CHECK(rate_text(17.34) == "17.3");
  CHECK(rate_text(1'234.4) == "1,234");
  CHECK(seconds_text(0) == "0");
  CHECK(seconds_text(0.26) == "0.3");
  CHECK(seconds_text(1'234) == "1,234");
  CHECK(size_text(12) == "12 B");
  CHECK(size_text(3'565'158) == "3.4 MiB");
  CHECK(duration_text(-5) == "0 s");
  CHECK(duration_text(59'999) == "59 s");
  CHECK(duration_text(3'599'000) == "59 min");
  CHECK(duration_text(7'500'000) == "2 h 5 min");
  CHECK(duration_text(3'600'000 * 76) == "3 d 4 h");
  CHECK(time_text(1'793'786'400'000) == "2026-11-04 10:00:00Z");
  CHECK(hour_text(1'793'786'400'000) == "11-04 10:00Z");
  CHECK(hour_text(1'793'786'405'000) == "11-04 10:00:05Z");
}

TEST_CASE("page: each state of a slot has a letter of its own") {
  std::set<char> letters;
  for (size_t state = 0; state < kSlotStateCount; ++state) letters.insert(letter_of(static_cast<SlotState>(state)));
  CHECK(letters.size() == kSlotStateCount);
}

TEST_CASE("page: text is cut at whole characters, and holds no control character and no broken UTF-8") {
  CHECK(clean("plain", 300) == "plain");
  CHECK(clean("exact", 5) == "exact");
  CHECK(clean("a\nb\x01" "c\x7f", 300) == "a b c\xef\xbf\xbd");
  CHECK(clean("x\xff\xc3(\xe2\x82", 300) == "x\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(clean("\xed\xa0\x80", 300) == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // A surrogate.
  CHECK(clean("\xc2\x85", 300) == "\xef\xbf\xbd\xef\xbf\xbd");                  // A control character of C1.
  CHECK(clean("日本語 €😀", 300) == "日本語 €😀");
  for (size_t bytes = 3; bytes < 30; ++bytes) {
    const std::string cut = clean("日本語日本語日本語日本語日本語", bytes);
    CHECK(cut.size() <= bytes);
    CHECK(cut.ends_with("…"));
    CHECK(clean(cut, 300) == cut);
  }
}

TEST_CASE("page: what HTML could take for markup is escaped") {
  CHECK(escaped("<b>&\"'</b>") == "&lt;b&gt;&amp;&quot;&#39;&lt;/b&gt;");
  CHECK(escaped("<<<<", 3) == "…");
}

TEST_CASE("page: rows end at the bound of their number or of their bytes, and the rest is counted") {
  Rows few(2, 1'000), small(100, 10);
  for (int i = 0; i < 5; ++i) {
    CHECK(few.add("row") == (i < 2));
    CHECK(small.add("1234") == (i < 2));
  }
  CHECK(few.html() == "rowrow");
  CHECK(few.left_out() == 3);
  CHECK(small.html() == "12341234");
  CHECK_FALSE(small.add("1"));  // No later row in place of one that was left out.
  CHECK(small.left_out() == 4);
}
