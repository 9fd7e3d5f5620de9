#include "pipeline/page/ring_svg.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "pipeline/page/html_text.h"
#include "pipeline/page/page_words.h"

namespace bloomring {

namespace {

constexpr double kOuter = 96, kInner = 48, kMiddle = (kOuter + kInner) / 2;
constexpr size_t kLetteredSlotsMax = 24;  // More sectors are too narrow for letters.
constexpr size_t kLabelledSlotsMax = 12;

struct Point {
  double x, y;
};

// A point at a fraction of the turn, clockwise from the top.
Point at(double turn, double radius) {
  const double angle = 2 * std::numbers::pi * turn;
  return {radius * std::sin(angle), -radius * std::cos(angle)};
}

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", std::abs(value) < 0.05 ? 0.0 : value);
  return text.data();
}

std::string pair(const Point& point) { return number(point.x) + " " + number(point.y); }

std::string arc(double radius, int sweep, const Point& to) {
  return "A" + number(radius) + " " + number(radius) + " 0 0 " + std::to_string(sweep) + " " + pair(to);
}

// The sector of a slot of `slots`, which are at least three; `inset` makes it narrower on each side.
std::string sector_path(size_t slot, size_t slots, double inset) {
  const double from = static_cast<double>(slot) / static_cast<double>(slots);
  const double to = static_cast<double>(slot + 1) / static_cast<double>(slots);
  const double outer = kOuter - inset, inner = kInner + inset;
  const auto turn = [&](double radius) { return inset / (2 * std::numbers::pi * radius); };
  return "M" + pair(at(from + turn(outer), outer)) + arc(outer, 1, at(to - turn(outer), outer)) + "L" +
         pair(at(to - turn(inner), inner)) + arc(inner, 0, at(from + turn(inner), inner)) + "Z";
}

std::string defs(size_t slots) {
  std::string html = "<defs>";
  const double inset = slots > kLetteredSlotsMax ? 1.5 : 4;
  for (size_t slot = 0; slot < slots; ++slot) {
    const std::string n = std::to_string(slot);
    html += "<path id=\"a" + n + "\" d=\"" + sector_path(slot, slots, 0) + "\"/>";
    html += "<path id=\"b" + n + "\" d=\"" + sector_path(slot, slots, inset) + "\"/>";
  }
  return html + "</defs>";
}

std::string sector(size_t slot, SlotState state) {
  const std::string n = std::to_string(slot), kind = std::to_string(static_cast<int>(state));
  std::string html = "<use href=\"#a" + n + "\" class=\"a s" + kind + "\"/>";
  if (state != SlotState::kFree) html += "<use href=\"#b" + n + "\" class=\"k" + kind + "\"/>";
  return html;
}

std::string text_at(const Point& point, const std::string& text, const char* kind = "") {
  return "<text" + std::string(*kind == 0 ? "" : " class=\"") + kind + (*kind == 0 ? "" : "\"") + " x=\"" +
         number(point.x) + "\" y=\"" + number(point.y) + "\">" + text + "</text>";
}

Point middle_of(size_t slot, size_t slots) {
  return at((static_cast<double>(slot) + 0.5) / static_cast<double>(slots), kMiddle);
}

std::string open_svg(const std::string& id, const std::string& title, const std::string& description) {
  return "<svg viewBox=\"-100 -100 200 200\" role=\"img\" aria-labelledby=\"" + id + "t\" aria-describedby=\"" +
         id + "d\"><title id=\"" +
         id + "t\">" + title + "</title><desc id=\"" + id + "d\">" + description + "</desc>";
}

// "2 draining, 5 merged"
std::string counts_text(const std::array<size_t, kSlotStateCount>& counts) {
  std::string text;
  for (size_t state = kSlotStateCount; state-- > 0;) {
    if (counts[state] == 0) continue;
    text += (text.empty() ? "" : ", ") + count_text(static_cast<int64_t>(counts[state])) + " " +
            std::string(slot_state_name(static_cast<SlotState>(state)));
  }
  return text;
}

}  // namespace

std::string large_ring(const OpsReport& report) {
  const SlotCounts counts = count_slots(report);
  if (counts.empty()) return "";
  const size_t slots = counts.size(), rings = rings_worst_first(report).size();
  std::string description;
  for (size_t slot = 0; slot < slots; ++slot)
    description += "Slot " + std::to_string(slot) + ": " + counts_text(counts[slot]) + ". ";
  const std::string title = "Slots of " + count_text(static_cast<int64_t>(rings)) + " partitions";
  std::string html = open_svg("ring", title, description);
  html += defs(slots);
  for (size_t slot = 0; slot < slots; ++slot) {
    const SlotState state = chief_state(counts[slot]);
    html += sector(slot, state);
    if (slots > kLetteredSlotsMax) continue;
    Point point = middle_of(slot, slots);
    if (slots <= kLabelledSlotsMax) {
      html += text_at({point.x, point.y + 8}, "slot " + std::to_string(slot), "l");
      point.y -= 4;
    }
    html += text_at(point, std::string(1, letter_of(state)));
  }
  html += text_at({0, -8}, count_text(static_cast<int64_t>(rings)), "c");
  html += text_at({0, 8}, rings == 1 ? "partition" : "partitions", "l");
  return html + "</svg>";
}

std::string small_ring(const PartitionStatus& partition) {
  const std::vector<SlotStatus>& slots = partition.ring->slots;
  const std::string n = std::to_string(partition.at.partition.value);
  std::string description;
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    description.append(slot == 0 ? "" : ", ").append(std::to_string(slot)).append(" ");
    description.append(slot_state_name(slots[slot].state));
  }
  std::string html = open_svg("r" + n, "Ring of partition " + n, description);
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    html += sector(slot, slots[slot].state);
    if (slots.size() <= kLabelledSlotsMax) {
      html += text_at(middle_of(slot, slots.size()), std::string(1, letter_of(slots[slot].state)), "c");
    }
  }
  return html + text_at({0, 0}, n, "c") + "</svg>";
}

std::string ring_key() {
  std::string html = "<ul class=\"key\">";
  for (const SlotState state : {SlotState::kFilling, SlotState::kSealed, SlotState::kDraining, SlotState::kMerged,
                                SlotState::kFree}) {
    const std::string kind = std::to_string(static_cast<int>(state));
    html += "<li><svg viewBox=\"0 0 28 28\" aria-hidden=\"true\"><path class=\"a s" + kind + "\" d=\"M1 1H27V27H1Z\"/>";
    if (state != SlotState::kFree) html += "<path class=\"k" + kind + "\" d=\"M5 5H23V23H5Z\"/>";
    html += text_at({14, 14}, std::string(1, letter_of(state)), "c") + "</svg> " + std::string(slot_state_name(state)) +
            "</li>";
  }
  return html + "</ul>";
}

}  // namespace bloomring
