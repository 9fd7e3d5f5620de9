// The examples of docs/formats.md whose formats have no test of their own in this folder.
#include <catch2/catch.hpp>
#include <set>

#include "base/hash.h"
#include "filter/filter.h"
#include "operators/filters/filter_notes.h"
#include "pipeline/tasks/dead_letter.h"
#include "schemas/forgotten.h"
#include "schemas/json/play_json.h"
#include "schemas/store/deletion_mark.h"
#include "schemas/store/store_meta.h"
#include "schemas/store_key.h"
#include "schemas/watermark.h"
#include "schemas/window/window_state.h"
#include "state/store/stored_union.h"
#include "tests/schemas/documented_example.h"
#include "tests/schemas/forgery.h"

using namespace bloomring;

namespace {

OffsetRange range(int64_t from, int64_t to) { return {Offset(from), Offset(to)}; }

// The user and the key of the filter examples.
const std::string kFilterUser = key_of("", "u1");
const std::string kFilterKey = filter_key(kFilterUser, PeriodUnit::kMonth, PeriodIndex(682));

std::string operand(const std::vector<std::string>& names) {
  std::vector<ItemHash> items;
  for (const std::string& name : names) items.push_back(item_hash(name));
  return filter::make(items, kFilterUser, kFilterKey, {});
}

std::string united(const std::vector<std::string>& values, const filter::Policy& policy, bool closed) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  return filter::unite(views, kFilterKey, policy, closed).value();
}

}  // namespace

// A hex block that is added to the document gets a line here, and a test.
TEST_CASE("formats: every example of the document is compared with what the program writes") {
  const std::set<std::string> tested = {
      "Store keys", "Example: an operand", "Example: the dense form", "Example: two sets", "Damaged value",
      "Forgotten value, version 1", "Merged watermark, version 3", "Store description, version 2",
      "Window state, version 5", "Deletion mark, version 1",
      // store/export_file_test.cc, store/export_manifest_test.cc, store/shard_state_test.cc
      "Export file, version 1", "Export manifest, version 1", "Shard state, version 1",
      // event_block_test.cc, store/slot_end_key_test.cc, user_batch_test.cc, tests/schemas/snapshot_test.cc
      "Event block, version 1", "Key of slot ends, version 1", "User batches, version 2", "Slot end, version 3",
      "Slot end, version 2", "Snapshot, version 2"};
  std::set<std::string> found;
  for (const DocumentedBlock& block : documented_blocks("hex")) CHECK(found.insert(block.section).second);
  CHECK(found == tested);
}

TEST_CASE("store keys: the bytes of a filter key are those of the document") {
  CHECK(hex(filter_key(key_of("feed", "u1"), PeriodUnit::kMonth, PeriodIndex(683))) ==
        hex(documented_example("Store keys")));
}

TEST_CASE("filter value: the bytes of an operand, the dense form and two sets are those of the document") {
  filter::Policy dense;
  dense.dense_from_items = 1;
  const std::string folded = united({united({operand({"0"})}, {}, false)}, {}, true);
  CHECK(hex(operand({"0", "1", "2", "3"})) == hex(documented_example("Example: an operand")));
  CHECK(hex(united({operand({"0"})}, dense, false)) == hex(documented_example("Example: the dense form")));
  CHECK(hex(united({folded, operand({"1"})}, {}, true)) == hex(documented_example("Example: two sets")));
}

TEST_CASE("damaged value: its bytes are those of the document") {
  const std::string good = operand({"0"});
  const std::vector<std::string_view> values = {good, "\x2a"};
  CHECK(hex(unite_stored(values, kFilterKey, {}, false).value) == hex(documented_example("Damaged value")));
}

TEST_CASE("dead letter: its headers are those of the document") {
  const std::string value = "{\"user\":\"u1\",\"item\":";
  PlayParser parser{PlayMapping{}};
  Play play;
  const Refusal refusal = parser.parse(value, 1'649'314'823'123, play);
  const LogRecord record{Offset(4711), 1'649'314'823'000, {}, value};
  const OutRecord letter = dead_letter("plays-dead", {"ingest", "plays", PartitionId(3)}, record, refusal,
                                       parser.detail(), 1'649'314'823'123);
  std::string text;
  for (const auto& [name, header] : letter.headers) text += name + "=" + header + "\n";
  CHECK(text == documented_block("Dead letter", "text"));
}

TEST_CASE("merged watermark: its bytes are those of the document") {
  MergedWatermark watermark;
  REQUIRE(watermark.add(range(0, 1000), HourIndex(458'143)));
  REQUIRE(watermark.add(range(1500, 2000), HourIndex(458'145)));
  watermark.merged_ms = 458'146 * 3'600'000LL;
  watermark.slot_ms = 3'600'000;
  CHECK(hex(encode_watermark(watermark, PartitionId(3), 50)) == hex(documented_example("Merged watermark, version 3")));
}

TEST_CASE("forgotten value: its bytes are those of the document") {
  Forgotten forgotten;
  bool changed = false;
  REQUIRE(forgotten.forget_everything(1'648'771'200'000));
  REQUIRE(forgotten.forget_item(item_hash("v1"), 1'649'316'000'000));
  REQUIRE(forgotten.take_play(item_hash("v1"), 1'649'316'600'000, changed));
  CHECK(hex(encode_forgotten(forgotten, forgotten_key(key_of("feed", "u1")))) ==
        hex(documented_example("Forgotten value, version 1")));
}

TEST_CASE("store description: its bytes are those of the document") {
  CHECK(hex(encode_store_meta({50, PeriodUnit::kMonth, "Europe/Berlin"})) ==
        hex(documented_example("Store description, version 2")));
}

TEST_CASE("window state: its bytes are those of the document") {
  WindowState state;
  state.partition_count = 50;
  state.applied = Offset(1700);
  state.filling = HourIndex(458'144);
  state.slot_ms = 3'600'000;
  state.log_time_ms = 1'649'320'500'000;
  state.hours = {{HourIndex(458'143), range(1000, 1500), 20'000, 300'000},
                 {HourIndex(458'144), range(1500, 1700), 8'000, 120'000}};
  FilterNotes notes;
  notes.note(HourIndex(458'142), 0, 0, 1'649'314'799'000);
  notes.note(HourIndex(458'143), 0, 3, 1'649'318'399'950);
  notes.note(HourIndex(458'144), 0, 0, 1'649'320'200'000);
  state.views = {{"filters", "", {{Offset(40)}, {}}}};
  notes.save(state.hours, state.views[0]);
  std::string bytes;
  encode_window_state(state, bytes);
  CHECK(hex(bytes) == hex(documented_example("Window state, version 5")));
}

TEST_CASE("formats: the bytes of a deletion mark are those of the document") {
  CHECK(hex(encode_deletion_mark(1'649'316'000'000, ShardId(2051))) ==
        hex(documented_example("Deletion mark, version 1")));
}
