// The points of a trend as a small picture, from 0 to their most: as inline SVG, and as a line of characters for a
// terminal. Gaps stay gaps. The picture tells nothing that does not stand next to it as a number.
// Threading: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace bloomring {

using Points = std::vector<std::optional<double>>;

// `steps` is how many points fill the width; the newest is at the right. Hidden from screen readers.
std::string spark_svg(const Points& points, size_t steps);
// One character for two points, the larger counts: "▁▂ █"; a space where neither is known.
std::string spark_text(const Points& points);

}  // namespace bloomring
