// Generates plays like those of a site's users, for load tests and benchmarks: `bloomring generate`.
//
// The model, with the figures of a month of real plays (KuaiRand-27K, 322 million plays of short videos):
//   - plays per user are log-normal, mu = ln 8594, sigma = 0.82, cut to [100, 228000] per 31 days, and scaled so that
//     all users together make exactly the requested number of plays;
//   - a user plays in sessions: bursts of 20 plays on average, 15 s apart;
//   - session starts follow the hour of the day (UTC): eight times as many from 21 to 22 as at 4;
//   - popular items are played more: 1/(rank + 1000), which is Zipf's law with a flat head, since a recommender does
//     not show a user the most popular item again and again;
//   - a given part of the plays repeats one of the user's last items.
//
// Guarantees: the same configuration gives the same plays, in the order of their times, on every machine whose libm
// rounds in the same way.
// Memory: 16 bytes a session and 40 bytes a user.
// Threading: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <string>
#include <vector>

#include "load/play_template.h"
#include "schemas/json/play_json.h"

namespace bloomring {

struct LoadConfig {
  uint64_t seed = 1;
  uint32_t users = 40'000;  // At least 1.
  uint64_t plays = 4'000'000;
  uint32_t items = 1'000'000;  // At least 1.
  int64_t start_ms = 0;        // Event time of the beginning, Unix milliseconds.
  uint32_t hours = 24;         // Event times lie in [start, start + hours); at least 1.
  double repeats = 0.05;       // Part of the plays that repeat one of the user's last items: [0, 1].
};

struct LoadPlay {
  uint32_t user = 0;  // [0, users)
  uint32_t item = 0;  // [1, items]; small numbers are popular.
  int64_t time_ms = 0;
};

// 64 random bits a call: SplitMix64, with one word of state.
class LoadRandom {
 public:
  explicit LoadRandom(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  double exponential(double mean);
  double normal();  // Mean 0, variance 1.

 private:
  uint64_t state_;
};

class LoadModel {
 public:
  explicit LoadModel(const LoadConfig& config);

  // The next play; false when all were given.
  bool next(LoadPlay& play);
  // Plays of one user over the whole span.
  uint64_t plays_of(uint32_t user) const { return plays_of_[user]; }

 private:
  struct Session {
    int64_t due_ms;  // Of its next play.
    uint32_t user;
    uint32_t plays_left;
    // Later sessions sort lower, so that the top of a heap is due next.
    bool operator<(const Session& other) const;
  };
  static constexpr size_t kLastItems = 8;
  using LastItems = std::array<uint32_t, kLastItems>;  // The newest overwrites the oldest; 0 is none.

  void share_out_plays();
  void plan_sessions();
  int64_t session_start_ms();
  uint32_t choose_item(uint32_t user);

  const LoadConfig config_;
  const int64_t end_ms_;
  LoadRandom random_;
  std::vector<uint64_t> plays_of_;     // By user.
  std::vector<uint32_t> played_;       // By user: how many so far.
  std::vector<LastItems> last_items_;  // By user.
  std::vector<double> hours_until_;    // By hour of the span: sum of the weights up to its end.
  std::vector<Session> sessions_;      // By start; the first `begun_` have begun.
  size_t begun_ = 0;
  std::priority_queue<Session> under_way_;
};

// Writes plays like the producers of a site (load/play_template.h): 110 to 130 bytes with the default names. Ids are a
// letter and the number, padded with zeros to `id_bytes`.
// Threading: const calls are thread safe.
class LoadPlayWriter {
 public:
  explicit LoadPlayWriter(const PlayMapping& mapping = {}, uint32_t id_bytes = 0);
  // Replaces `json`.
  void write(const LoadPlay& play, std::string& json) const;

 private:
  uint32_t id_bytes_;
  PlayTemplate template_;
};
// Write only the user id (the record's key), and only the item id.
void write_user_id(const LoadPlay& play, uint32_t id_bytes, std::string& id);
void write_item_id(const LoadPlay& play, uint32_t id_bytes, std::string& id);

}  // namespace bloomring
