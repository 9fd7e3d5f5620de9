#include "pipeline/plan/record_sizes.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/hash.h"
#include "schemas/event_block.h"
#include "schemas/user_batch.h"

namespace bloomring {

namespace {

constexpr int64_t kNowMs = 1'795'248'000'000;  // A beginning of a quarter of an hour.
constexpr uint32_t kPartitions = 50;

// Numbers that look random, for items and times.
uint64_t mixed(uint64_t number) { return hash_bytes({reinterpret_cast<const char*>(&number), sizeof number}, 0); }

// One record with a batch of `plays` plays for each of `users` users. A session of five minutes lies in one quarter, or
// in two for every third user.
size_t batch_bytes(uint32_t users, uint32_t plays, uint32_t id_bytes) {
  UserBatchBuilder builder;
  for (uint32_t user = 0; user < users; ++user) {
    std::vector<DrainedPlay> drained;
    for (uint32_t play = 0; play < plays; ++play) {
      const uint64_t number = mixed(uint64_t{user} * plays + play);
      const int64_t quarter = user % 3 == 0 && play % 2 == 1 ? kQuarterMs : 0;
      const auto ms = static_cast<int64_t>(number % static_cast<uint64_t>(kQuarterMs));
      drained.push_back(DrainedPlay::at(kNowMs + quarter + ms, ItemHash(number)));
    }
    std::ranges::sort(drained);
    builder.add(sample_user_key(id_bytes, user), {}, drained);
  }
  return builder.finish({PartitionId(0), kPartitions, {Offset(1'000'000), Offset(2'000'000)}}).size();
}

}  // namespace

// The last digits of the number fill an id that is too short for all of them.
std::string sample_user_key(uint32_t id_bytes, uint64_t number) {
  char digits[24];
  std::snprintf(digits, sizeof digits, "%020llu", static_cast<unsigned long long>(number));
  std::string id(id_bytes, '0');
  for (size_t i = 0; i < std::min<size_t>(id_bytes, 20); ++i) id[id.size() - 1 - i] = digits[19 - i];
  return std::string(UserKey("", id).bytes());
}

double event_block_bytes(const BlockSample& sample) {
  EventBlockBuilder builder;
  for (uint32_t i = 0; i < sample.events; ++i) {
    const uint64_t number = mixed(i);
    const auto ms = static_cast<int64_t>(number % static_cast<uint64_t>(std::max<int64_t>(1, sample.span_ms)));
    const std::string user = sample_user_key(sample.id_bytes, i % sample.users);
    builder.add(user, {EventKind::kPlay, ItemHash(number), kNowMs + ms});
  }
  return static_cast<double>(builder.finish(PartitionId(0), kPartitions).size());
}

// Two samples determine both parts.
BatchSizes user_batch_sizes(uint32_t id_bytes) {
  constexpr uint32_t kUsers = 300, kFew = 4, kMany = 44;
  const auto few = static_cast<double>(batch_bytes(kUsers, kFew, id_bytes)) / kUsers;
  const auto many = static_cast<double>(batch_bytes(kUsers, kMany, id_bytes)) / kUsers;
  const double of_play = (many - few) / (kMany - kFew);
  return {few - of_play * kFew, of_play};
}

}  // namespace bloomring
