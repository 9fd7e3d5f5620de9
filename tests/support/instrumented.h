// How much a randomised test does in a build that is instrumented by a sanitizer: each round takes some thirty to a
// hundred times as long there.
#pragma once

#include <algorithm>

namespace bloomring {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // g++
inline constexpr bool kInstrumented = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)  // clang++
inline constexpr bool kInstrumented = true;
#else
inline constexpr bool kInstrumented = false;
#endif
#else
inline constexpr bool kInstrumented = false;
#endif

// A twentieth of the rounds, at least one.
constexpr int rounds(int all) { return kInstrumented ? std::max(1, all / 20) : all; }

}  // namespace bloomring
