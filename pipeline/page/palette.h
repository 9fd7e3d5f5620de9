// The colours of the operations page, for a light and a dark background. Its stylesheet is made from them, and a test
// computes their contrasts: text has 4.5:1 on each ground that it stands on, lines 3:1 (WCAG 2.2, 1.4.3 and 1.4.11).
// Threading: constants.
#pragma once

#include <array>
#include <cstdint>

namespace bloomring {

struct Palette {
  uint32_t ground;   // 0xRRGGBB, as all.
  uint32_t panel;    // Of heads of tables, and of the configuration.
  uint32_t text;
  uint32_t muted;    // Text of less weight.
  uint32_t line;     // Borders, and the lines of the ring.
  uint32_t link;
  uint32_t good;     // Text of the verdict, as the next two.
  uint32_t warning;
  uint32_t bad;
  std::array<uint32_t, 5> slots;  // Grounds of slots by SlotState: free, filling, sealed, draining, merged.
};

inline constexpr Palette kLight = {0xffffff, 0xf3f5f7, 0x1b1f24, 0x4d5661, 0x77818c, 0x0b57a4, 0x116329,
                                   0x7a4b00, 0xa40e26, {0xf3f5f7, 0xcfe3fb, 0xffe4ad, 0xe4d8fb, 0xcdeed6}};
inline constexpr Palette kDark = {0x14171b, 0x1e2329, 0xe7eaee, 0xa9b3bf, 0x76818e, 0x8ab8ff, 0x7bd88f,
                                  0xf0c060, 0xff9aa8, {0x22272d, 0x1d3d63, 0x5a4310, 0x463069, 0x1c4a2b}};

// (lighter + 0.05) / (darker + 0.05) of the relative luminances: 1 to 21.
double contrast(uint32_t one, uint32_t other);

}  // namespace bloomring
