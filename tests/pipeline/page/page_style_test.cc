#include "pipeline/page/page_style.h"

#include <catch2/catch.hpp>
#include <string>

#include "pipeline/page/palette.h"

using namespace bloomring;

namespace {

constexpr double kTextMin = 4.5, kLineMin = 3.0;

void check_palette(const Palette& palette) {
  for (const uint32_t text : {palette.text, palette.muted, palette.link, palette.good, palette.warning, palette.bad}) {
    for (const uint32_t ground : {palette.ground, palette.panel}) {
      CAPTURE(text, ground);
      CHECK(contrast(text, ground) >= kTextMin);
    }
  }
  for (const uint32_t slot : palette.slots) {
    CAPTURE(slot);
    CHECK(contrast(palette.text, slot) >= kTextMin);
  }
  CHECK(contrast(palette.line, palette.ground) >= kLineMin);
}

}  // namespace

TEST_CASE("page: contrast is that of WCAG") {
  CHECK(contrast(0x000000, 0xffffff) == Approx(21.0));
  CHECK(contrast(0xffffff, 0x000000) == Approx(21.0));
  CHECK(contrast(0x123456, 0x123456) == Approx(1.0));
  CHECK(contrast(0x777777, 0xffffff) == Approx(4.478).margin(0.001));  // The known grey that just fails.
  CHECK(contrast(0xff0000, 0xffffff) == Approx(3.998).margin(0.001));
}

TEST_CASE("page: all text has a contrast of 4.5 on its grounds, and lines one of 3, light and dark") {
  check_palette(kLight);
  check_palette(kDark);
}

TEST_CASE("page: the stylesheet has the colours of both palettes, and loads nothing") {
  const std::string& style = page_style();
  for (const char* rule : {":root{--ground:#ffffff;", "@media(prefers-color-scheme:dark){:root{--ground:#14171b;"})
    CHECK(style.find(rule) != std::string::npos);
  for (const char* word : {"url(", "@import", "http", "<"}) CHECK(style.find(word) == std::string::npos);
  CHECK(style.size() < 5'000);
}

TEST_CASE("page: the policy allows the stylesheet by its sum, and nothing else") {
  const std::string& policy = page_policy();
  const std::string begin = "default-src 'none'; style-src 'sha256-";
  REQUIRE(policy.starts_with(begin));
  const size_t end = policy.find('\'', begin.size());
  CHECK(end - begin.size() == 44);  // 32 bytes in base64.
  CHECK(policy.substr(end) == "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}
