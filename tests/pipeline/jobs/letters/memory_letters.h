// The logs of a replay of dead letters, in memory: a topic of dead letters with one partition, originals, and what was
// put back, which is acknowledged when a test says so.
#pragma once

#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/jobs/letters/letter_world.h"
#include "pipeline/tasks/dead_letter.h"

namespace bloomring::testing {

inline constexpr int64_t kLettersNowMs = 1'795'000'000'000;

class MemoryLetters final : public LetterWorld {
 public:
  std::vector<OutRecord> dead;  // By offset.
  int64_t log_start = 0;
  std::map<int64_t, kafka::FetchedRecord> originals;  // By the offset in their topic.
  std::map<std::string, TargetTopic> targets = {{"plays", {4, -1, -1}}};
  std::vector<OutRecord> written;
  std::deque<kafka::Written> unacknowledged;
  size_t room = 1'000'000;         // For records that are not acknowledged.
  bool originals_away = false;     // Brokers do not answer for them.
  size_t originals_asked = 0;

  // The dead letter of a record at `offset` of plays[2]; the letter's place in its topic.
  int64_t refuse(const std::string& value, Refusal refusal = Refusal::kMissingField, int64_t offset = 0,
                 const RecordHeaders& headers = {}, const std::string& stage = "ingest") {
    const LogRecord record{Offset(offset), kLettersNowMs - 60'000, "key", value};
    dead.push_back(dead_letter("plays-dead", {stage, "plays", PartitionId(2)}, record, refusal, "why", kLettersNowMs,
                               headers));
    return static_cast<int64_t>(dead.size()) - 1;
  }
  void add_foreign() { dead.push_back({"plays-dead", PartitionId(0), "k", "v", {}}); }
  void acknowledge_all() {
    while (!unacknowledged.empty()) acknowledge_first();
  }
  void acknowledge_first() {
    const kafka::Written told = std::move(unacknowledged.front());
    unacknowledged.pop_front();
    told(kafka::WrittenPlace{});
  }

  Result<std::vector<LetterRange>> held(std::optional<int64_t> since_ms) override {
    CHECK((!since_ms || *since_ms <= kLettersNowMs));
    return std::vector<LetterRange>{{PartitionId(0), Offset(log_start), Offset(static_cast<int64_t>(dead.size()))}};
  }
  Result<std::unique_ptr<DeadRecords>> read(std::vector<LetterRange> ranges) override {
    REQUIRE(ranges.size() == 1);
    return std::unique_ptr<DeadRecords>(std::make_unique<Reader>(*this, ranges[0]));
  }
  Result<TargetTopic> target(const std::string& topic) override {
    const auto found = targets.find(topic);
    return found == targets.end() ? Result<TargetTopic>(invalid("topic " + topic + " does not exist")) : found->second;
  }
  Result<bool> has_original(const Letter& letter) override { return originals.contains(letter.offset.value); }
  Result<std::optional<kafka::FetchedRecord>> original(const Letter& letter) override {
    ++originals_asked;
    if (originals_away) return retry("away");
    const auto found = originals.find(letter.offset.value);
    return found == originals.end() ? std::nullopt : std::optional(found->second);
  }
  void write(const OutRecord& record, kafka::Written told) override {
    if (unacknowledged.size() >= room) return told(retry("full"));
    written.push_back(record);
    unacknowledged.push_back(std::move(told));
  }

 private:
  class Reader final : public DeadRecords {
   public:
    Reader(MemoryLetters& letters, LetterRange range) : letters_(letters), range_(range) {}
    Result<std::optional<DeadRecord>> next() override {
      if (done()) return std::optional<DeadRecord>();
      const OutRecord& record = letters_.dead[static_cast<size_t>(range_.from.value)];
      const Offset offset(range_.from.value++);
      return std::optional(DeadRecord{.partition = PartitionId(0),
                                      .offset = offset,
                                      .log_time_ms = kLettersNowMs,
                                      .bytes = record.value.size(),
                                      .letter = read_letter(record.key, record.value, record.headers)});
    }
    bool done() const override { return range_.from >= range_.to; }
    Status read_all(int64_t, const std::function<Status(DeadRecord& record)>& take) override {
      while (!done()) {
        auto record = next();
        if (Status taken = take(**record); !taken.ok()) return taken;
      }
      return {};
    }

   private:
    MemoryLetters& letters_;
    LetterRange range_;
  };
};

}  // namespace bloomring::testing
