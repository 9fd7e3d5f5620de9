#include "pipeline/page/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace bloomring {

namespace {

constexpr int kStepWidth = 4, kHeight = 24, kMargin = 2, kSpan = kHeight - 2 * kMargin;

double most_of(const Points& points) {
  double most = 0;
  for (const auto& point : points) most = std::max(most, point.value_or(0));
  return most;
}

// 0 to 1.
double level(double value, double most) { return most > 0 ? value / most : 0; }

}  // namespace

// Whole numbers, and relative ones within a line: the page has a bound in bytes.
std::string spark_svg(const Points& points, size_t steps) {
  const double most = most_of(points);
  const int width = kStepWidth * static_cast<int>(steps);
  std::string path;
  std::optional<int> before;  // The height of the point before.
  for (size_t i = 0; i < points.size(); ++i) {
    if (!points[i]) {
      before.reset();
      continue;
    }
    const int x = width - kStepWidth * static_cast<int>(points.size() - 1 - i);
    const int y = kMargin + kSpan - static_cast<int>(std::lround(level(*points[i], most) * kSpan));
    const bool alone = !before && (i + 1 == points.size() || !points[i + 1]);
    if (before) {
      path += "l" + std::to_string(kStepWidth) + (y < *before ? "" : " ") + std::to_string(y - *before);
    } else {
      path += "M" + std::to_string(x) + " " + std::to_string(y) + (alone ? "h1" : "");  // A point alone is not drawn.
    }
    before = y;
  }
  return "<svg class=\"spark\" viewBox=\"0 0 " + std::to_string(width + kMargin) + " " + std::to_string(kHeight) +
         "\" aria-hidden=\"true\"><path d=\"" + (path.empty() ? "M0 0" : path) + "\"/></svg>";
}

std::string spark_text(const Points& points) {
  constexpr std::array<const char*, 8> kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double most = most_of(points);
  std::string text;
  for (size_t i = points.size() % 2; i <= points.size(); i += 2) {  // The newest two are together.
    std::optional<double> larger;
    for (size_t at = i < 2 ? 0 : i - 2; at < i; ++at) {
      if (points[at] && (!larger || *points[at] > *larger)) larger = points[at];
    }
    if (i == 0) continue;
    text += larger ? kBars[static_cast<size_t>(std::lround(level(*larger, most) * (kBars.size() - 1)))] : " ";
  }
  return text;
}

}  // namespace bloomring
