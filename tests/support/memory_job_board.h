// The topic of jobs in memory. Several boards on one topic are several processes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/jobs/job_board.h"

namespace bloomring {

struct MemoryJobTopic {
  std::vector<std::pair<std::string, std::string>> records;
};

class MemoryJobBoard final : public JobBoard {
 public:
  // `topic` outlives the board.
  explicit MemoryJobBoard(MemoryJobTopic& topic) : topic_(topic) {}

  Status refresh() override {
    ++refreshes;
    if (away) return retry("no broker answers");
    const Status status = read(SIZE_MAX);
    if (refreshed) refreshed();
    return status;
  }
  Status poll() override {
    if (away) return retry("no broker answers");
    return polls_in_vain-- > 0 ? Status() : read(poll_records);
  }
  const JobBook& book() const override { return book_; }
  Status write(const std::string& key, const std::string& value) override {
    if (away) return retry("no broker answers");
    topic_.records.emplace_back(key, value);
    if (written) written();
    return {};
  }

  bool away = false;                // FAULT: no broker answers.
  int polls_in_vain = 0;            // So many bring nothing: records take their time from the log to the reader.
  size_t poll_records = SIZE_MAX;   // That a poll brings at most.
  int refreshes = 0;
  std::function<void()> refreshed{};  // Called after each refresh.
  std::function<void()> written{};  // Called after each write.

 private:
  Status read(size_t records_max) {
    for (; next_ < topic_.records.size() && records_max > 0; ++next_, --records_max) {
      const auto& [key, value] = topic_.records[next_];
      book_.apply(key, value);
    }
    return {};
  }

  MemoryJobTopic& topic_;
  size_t next_ = 0;
  JobBook book_;
};

}  // namespace bloomring
