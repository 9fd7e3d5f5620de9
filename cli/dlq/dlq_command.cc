#include <algorithm>
#include <charconv>
#include <deque>
#include <functional>
#include <memory>
#include <tuple>

#include "base/clock.h"
#include "cli/calls/json_text.h"
#include "cli/dlq/dlq_commands.h"
#include "cli/dlq/letter_json.h"
#include "cli/dlq/replay_letters.h"
#include "cli/dlq/safe_text.h"
#include "cli/dlq/selection_of.h"
#include "cli/new_file.h"
#include "cli/output.h"
#include "cli/progress_line.h"
#include "pipeline/letters/letter_reader.h"
#include "pipeline/runtime/signals.h"
#include "pipeline/settings/client_settings.h"

namespace bloomring::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kPatienceMs = 30'000;
constexpr int64_t kShowIntervalNs = 1'000'000'000;

std::string as_output(const Json& json, OutputFormat format) {
  return format == OutputFormat::kJson ? json_line(json) : json_text(safe_json(json));
}

// Reads dead letters for `list` and `show`.
class Letters {
 public:
  static Result<std::unique_ptr<Letters>> open(const DlqArgs& args, const Settings& settings) {
    std::unique_ptr<Letters> letters(new Letters(args, settings));
    BLOOMRING_TRY(letters->find());
    return letters;
  }

  Result<Json> list(OutputFormat format);
  Result<Json> show();

 private:
  Letters(const DlqArgs& args, const Settings& settings)
      : args_(args), settings_(settings), topic_(settings.topics.name(TopicRole::kDeadLetters)) {}

  Status find();
  Result<std::vector<LetterRange>> ranges();
  Status read_selected(const std::function<void(DeadRecord& record)>& take);
  Result<LetterRange> place() const;
  Result<Json> show_one(const LetterRange& at);
  Json topic_json(const std::vector<LetterRange>& ranges) const;

  const DlqArgs& args_;
  const Settings& settings_;
  const std::string topic_;
  const SystemClock clock_;
  LetterSelection selection_;
  std::unique_ptr<LetterReader> reader_;
};

Status Letters::find() {
  BLOOMRING_TRY(check_runnable(settings_));
  BLOOMRING_TRY_ASSIGN(selection_, selection_of(args_, clock_.now_ms()));
  BLOOMRING_TRY_ASSIGN(reader_, LetterReader::open(client_settings(settings_), topic_, clock_));
  return {};
}

Result<std::vector<LetterRange>> Letters::ranges() {
  if (selection_.since_ms) return reader_->partitions_since(*selection_.since_ms);
  return reader_->partitions();
}

Status Letters::read_selected(const std::function<void(DeadRecord& record)>& take) {
  ProgressLine line("reading " + topic_);
  uint64_t read = 0;
  int64_t show_at_ns = clock_.steady_ns() + kShowIntervalNs;
  return reader_->read_all(kPatienceMs, [&](DeadRecord& record) -> Status {
    ++read;
    if (clock_.steady_ns() >= show_at_ns) {
      show_at_ns = clock_.steady_ns() + kShowIntervalNs;
      line.show({{"letters_read", read}});
    }
    if (selects(selection_, record)) take(record);
    return {};
  });
}

Json Letters::topic_json(const std::vector<LetterRange>& ranges) const {
  Json offsets = Json::array();
  for (const LetterRange& range : ranges) {
    offsets.push_back({{"partition", range.partition.value}, {"from", range.from.value}, {"to", range.to.value}});
  }
  return {{"topic", topic_}, {"read", offsets}};
}

Result<Json> Letters::list(OutputFormat format) {
  BLOOMRING_TRY_ASSIGN(const std::vector<LetterRange> read, ranges());
  BLOOMRING_TRY(reader_->begin(read));
  LetterTable table;
  BLOOMRING_TRY(read_selected([&](DeadRecord& record) { table.add(record); }));
  Json json = topic_json(read);
  json.update(format == OutputFormat::kJson ? table_json(table) : table_rows(table));
  return json;
}

// The place that --at names.
Result<LetterRange> Letters::place() const {
  const size_t colon = args_.at.find(':');
  int32_t partition = -1;
  int64_t offset = -1;
  const auto read = [](std::string_view text, auto& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0;
  };
  const std::string_view text = args_.at;
  if (colon == std::string::npos || !read(text.substr(0, colon), partition) || !read(text.substr(colon + 1), offset))
    return invalid("--at " + args_.at + ": give PARTITION:OFFSET of the letter, as 0:4711");
  const auto held = std::ranges::find(reader_->partitions(), PartitionId(partition), &LetterRange::partition);
  if (held == reader_->partitions().end()) {
    return invalid("--at " + args_.at + ": " + topic_ + " has " + std::to_string(reader_->partitions().size()) +
                   " partitions");
  }
  if (offset < held->from.value || offset >= held->to.value) {
    return invalid("--at " + args_.at + ": " + topic_ + " holds the offsets " + std::to_string(held->from.value) +
                   " to " + std::to_string(held->to.value - 1) + " of this partition; letters before them are past "
                   "their retention");
  }
  return LetterRange{PartitionId(partition), Offset(offset), Offset(offset + 1)};
}

Result<Json> Letters::show_one(const LetterRange& at) {
  BLOOMRING_TRY(reader_->begin({at}));
  std::optional<DeadRecord> found;
  BLOOMRING_TRY(reader_->read_all(kPatienceMs, [&](DeadRecord& record) -> Status {
    found = std::move(record);
    return {};
  }));
  if (!found) return invalid("--at " + args_.at + ": " + topic_ + " has no record at this offset");
  PlayParser parser(settings_.events.mapping());
  Json json = record_json(*found, parser, clock_.now_ms());
  if (args_.raw.empty()) return Json{{"topic", topic_}, {"letters", Json::array({std::move(json)})}};
  if (!found->letter) return invalid("--raw: the record at " + args_.at + " is no dead letter of bloomring");
  BLOOMRING_TRY(write_new("--raw", args_.raw, found->letter->value));
  return Json{{"topic", topic_},
              {"at", args_.at},
              {"file", args_.raw},
              {"bytes", found->letter->value.size()},
              {"value_bytes", found->letter->whole_value_bytes()},
              {"cut", found->letter->value_bytes.has_value()}};
}

Result<Json> Letters::show() {
  if (!args_.at.empty()) {
    BLOOMRING_TRY_ASSIGN(const LetterRange at, place());
    return show_one(at);
  }
  BLOOMRING_TRY_ASSIGN(std::vector<LetterRange> read, ranges());
  if (selection_.takes_foreign() && !selection_.until_ms) {  // Every record counts: the last ones are enough.
    for (LetterRange& range : read) range.from = std::max(range.from, Offset(range.to.value - args_.newest));
  }
  BLOOMRING_TRY(reader_->begin(read));
  const auto older = [](const DeadRecord& left, const DeadRecord& right) {
    return std::tie(left.log_time_ms, left.partition, left.offset) <
           std::tie(right.log_time_ms, right.partition, right.offset);
  };
  std::deque<DeadRecord> newest;  // The oldest first.
  BLOOMRING_TRY(read_selected([&](DeadRecord& record) {
    newest.insert(std::ranges::upper_bound(newest, record, older), std::move(record));
    if (newest.size() > args_.newest) newest.pop_front();
  }));
  PlayParser parser(settings_.events.mapping());
  Json shown = Json::array();
  for (auto record = newest.rbegin(); record != newest.rend(); ++record)
    shown.push_back(record_json(*record, parser, clock_.now_ms()));
  return Json{{"topic", topic_}, {"letters", std::move(shown)}};
}

Result<Json> carry_out(const DlqArgs& args, const Settings& settings) {
  BLOOMRING_TRY_ASSIGN(const auto letters, Letters::open(args, settings));
  return args.what == DlqAction::kList ? letters->list(args.output) : letters->show();
}

}  // namespace

int dlq_command(const DlqArgs& args) {
  const bool json = args.output == OutputFormat::kJson;
  if (args.what == DlqAction::kReplay) hold_stop_signals();
  const auto settings = load_command_settings(args.config);
  if (!settings.ok()) return finish_output(report_result(settings.status(), json));
  if (args.what == DlqAction::kReplay) {
    const Result<int> code = replay_letters(args, *settings);
    return finish_output(code.ok() ? *code : report_result(code.status(), json));
  }
  const Result<Json> found = carry_out(args, *settings);
  if (!found.ok()) return finish_output(report_result(found.status(), json));
  print(as_output(*found, args.output));
  return finish_output(0);
}

}  // namespace bloomring::cli
