#include "pipeline/page/sparkline.h"

#include <catch2/catch.hpp>

using namespace bloomring;
using Catch::Contains;

TEST_CASE("sparkline: as text it has a character for two points, and a gap where nothing is known") {
  CHECK(spark_text({}).empty());
  CHECK(spark_text({0.0, 0.0, 0.0, 0.0}) == "▁▁");
  CHECK(spark_text({1.0, 8.0, std::nullopt, std::nullopt, 4.0, std::nullopt}) == "█ ▅");
  CHECK(spark_text({7.0, 0.0, 7.0}) == "██");  // An odd one is the oldest by itself.
}

TEST_CASE("sparkline: as a picture the newest point is at the right, the most at the top, and gaps are not crossed") {
  const std::string svg = spark_svg({10.0, 0.0, std::nullopt, 5.0}, 4);
  CHECK_THAT(svg, Contains("viewBox=\"0 0 18 24\""));
  CHECK_THAT(svg, Contains("<path d=\"M4 2l4 20M16 12h1\"/>"));
  CHECK_THAT(svg, Contains("aria-hidden=\"true\""));
  CHECK_THAT(spark_svg({0.0, 20.0}, 4), Contains("<path d=\"M12 22l4-20\"/>"));
  CHECK_THAT(spark_svg({}, 4), Contains("<path d=\"M0 0\"/>"));
  CHECK_THAT(spark_svg({std::nullopt, 0.0, 0.0}, 60), Contains("<path d=\"M236 22l4 0\"/>"));
}
