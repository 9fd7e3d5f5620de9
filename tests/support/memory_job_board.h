// The topic of jobs in memory. Several boards on one topic are several processes.
#pragma once

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
    return away ? retry("no broker answers") : read();
  }
  Status poll() override {
    if (away) return retry("no broker answers");
    return polls_in_vain-- > 0 ? Status() : read();
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
  int refreshes = 0;
  std::function<void()> written{};  // Called after each write.

 private:
  Status read() {
    for (; next_ < topic_.records.size(); ++next_) {
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
