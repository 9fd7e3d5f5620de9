// The old store of a site as the serve stage reads it through: sorted sets on servers of the Redis protocol.
//
// Bounds: `reads_max` users at once, `members_max` of the newest members of each set, `timeout_ms` of each call; one
// connection to each server. A server that is known to be away is not waited for.
// Threading: as OldPlaysReader. Members are decoded on the thread of the client.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "pipeline/stores/open_legacy.h"
#include "serving/legacy/old_plays.h"

namespace bloomring {

struct RedisOldPlaysConfig {
  double false_positive_rate = 0.01;
  uint32_t members_max = 10'000;
  uint32_t reads_max = 16;
};

class RedisOldPlays final : public OldPlaysReader {
 public:
  // `clock` outlives it.
  RedisOldPlays(LegacyStore store, RedisOldPlaysConfig config, const Clock& clock)
      : config_(config), clock_(clock), store_(std::move(store)) {}
  // Ends all reads.
  ~RedisOldPlays() override { store_.client->close(); }

  std::vector<OldSet> sets_of(std::string_view user_key) const override;
  void begin(std::vector<std::string> keys, int64_t since_ms, int64_t timeout_ms, Ended ended) override;

  static constexpr uint64_t kMemberBytes = 256;  // In a reply, decoded; what memory plans count.

 private:
  class Read;
  const RedisOldPlaysConfig config_;
  const Clock& clock_;
  std::atomic<uint32_t> reads_{0};
  const LegacyStore store_;  // Last: its client's thread uses the rest.
};

}  // namespace bloomring
