// The header of Catch2 2 by its name, made of Catch2 3: only builds with version 3 look here.
#pragma once

#include <catch2/catch_all.hpp>

namespace Catch {

using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::StartsWith;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

}  // namespace Catch

using Catch::Approx;  // NOLINT: version 2 has it so, too.
