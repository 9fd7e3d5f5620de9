#include "operators/filters/filter_notes.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

constexpr int64_t kHourMs = 1000;
const HourIndex kTen(10), kEleven(11), kTwelve(12), kThirteen(13);

StagedHour staged(HourIndex hour, uint64_t events = 1) {
  return {.hour = hour, .range = {Offset(hour.value), Offset(hour.value + 1)}, .events = events};
}
int64_t late_before(const FilterNotes& notes, HourIndex hour) { return notes.of(hour).late_before_ms; }

// The notes as a start of the window reads them back.
FilterNotes restarted(const FilterNotes& notes, const std::vector<StagedHour>& hours) {
  ViewState state{.name = "filters", .hours = std::vector<ViewState::Hour>(hours.size())};
  notes.save(hours, state);
  FilterNotes restored = FilterNotes::restore(state, hours).value();
  ViewState again{.name = "filters", .hours = std::vector<ViewState::Hour>(hours.size())};
  restored.save(hours, again);
  CHECK(again == state);
  return restored;
}

}  // namespace

TEST_CASE("filter notes: a forget is late by the newest play of earlier hours, even one ahead of its log time") {
  FilterNotes notes;
  notes.note(kTen, 10'001, 0, 9'900);
  CHECK(late_before(notes, kTen) == 0);  // There is nothing before it.
  notes.note(kTen, 10'300, 1, 10'200);
  CHECK(notes.of(kTen) == HourForgets{1, 0});
  notes.note(kEleven, 10'400, 0, 10'350);  // A clock that is ahead ended the hour early.
  CHECK(late_before(notes, kEleven) == 10'200);
  notes.note(kTwelve, 12'001, 0, 0);
  CHECK(late_before(notes, kTwelve) == 10'350);
  notes.note(kTwelve, 12'500, 0, 13'700);  // The clock of ingest is ahead.
  notes.note(kThirteen, 13'001, 0, 12'900);
  CHECK(late_before(notes, kThirteen) == 13'700);
  FilterNotes restored = restarted(notes, {staged(kTen), staged(kEleven), staged(kTwelve), staged(kThirteen)});
  CHECK(restored.of(kTen) == HourForgets{1, 0});
  restored.note(HourIndex(14), 13'500, 0, 0);
  CHECK(late_before(restored, HourIndex(14)) == 13'700);
}

TEST_CASE("filter notes: without the record before the base, plays below it were logged before its first record") {
  FilterNotes notes(true);
  notes.note(kEleven, 11'500, 0, 11'400);
  CHECK(late_before(notes, kEleven) == 11'500);
  notes.note(kThirteen, 11'700, 0, 11'600);
  CHECK(late_before(notes, kThirteen) == 11'500);
}

TEST_CASE("filter notes: plays below the base were logged no later than the record before it") {
  FilterNotes notes(true);
  notes.set_base_log_time(11'200);
  notes.note(kEleven, 11'500, 1, 0);  // It happened at 11.45: after every play that is merged.
  CHECK(late_before(notes, kEleven) == 11'200);
  notes.note(kTwelve, 12'100, 0, 12'050);
  CHECK(late_before(notes, kTwelve) == 11'200);
}

TEST_CASE("filter notes: plays among records that the log lost were logged before the first record after them") {
  FilterNotes notes;
  notes.note(kTen, 10'200, 1, 10'100);
  notes.lost_records();
  const HourIndex filling = GENERATE(kEleven, kTwelve, kThirteen);
  CHECK(late_before(notes, filling) == HourForgets::kNotKnown);
  const std::vector<StagedHour> hours{staged(kTen), staged(filling, 0)};
  if (GENERATE(false, true)) notes = restarted(notes, hours);
  CHECK(late_before(notes, filling) == HourForgets::kNotKnown);
  const int64_t log_time_ms = GENERATE(10'950, 11'300, 12'400);  // In the hour that was filling, the next and another.
  notes.note(filling, log_time_ms, 1, 0);
  CHECK(late_before(notes, kTen) == 0);  // The plays that it forgets were logged earlier.
  CHECK(notes.of(filling) == HourForgets{1, log_time_ms});
  notes.note(HourIndex(20), 13'000, 0, 0);
  CHECK(late_before(notes, HourIndex(20)) == log_time_ms);
}

TEST_CASE("filter notes: an hour that was released is unknown again, and bytes that no notes have are refused") {
  FilterNotes notes;
  notes.note(kTen, 10 * kHourMs, 3, 10'500);
  notes.released({kTen});
  CHECK(notes.of(kTen) == HourForgets{0, 10'500});
  const std::vector<StagedHour> hours{staged(kTen)};
  ViewState state{.name = "filters", .hours = {{}}};
  CHECK(FilterNotes::restore(state, hours).code() == Code::kCorrupt);
  notes.save(hours, state);
  CHECK(FilterNotes::restore(state, hours).ok());
  state.hours[0].note += 'x';
  CHECK(FilterNotes::restore(state, hours).code() == Code::kCorrupt);
}
