// Sizes of keys and records, as the writers of their formats make them of samples. The same question has the same
// answer.
// Threading: pure functions.
#pragma once

#include <cstdint>
#include <string>

namespace bloomring {

// A user key without a scene, whose user id has so many bytes: 1 to 128. `number` makes it that of another user.
std::string sample_user_key(uint32_t id_bytes, uint64_t number = 0);

// A block of user-events with `events` plays, each user having about as many as the others; event times are spread over
// `span_ms`. Without Kafka's own bytes and without compression, which gains little on hashes.
struct BlockSample {
  uint32_t events = 1;  // At least 1.
  uint32_t users = 1;   // 1 to `events`.
  uint32_t id_bytes = 10;
  int64_t span_ms = 50;
};
double event_block_bytes(const BlockSample& sample);

// Of user-batches: bytes = of_user * users + of_play * plays, where a user's plays lie in one or two quarters of an
// hour. The head of a record is shared by hundreds of users and left out.
struct BatchSizes {
  double of_user = 0;
  double of_play = 0;
};
BatchSizes user_batch_sizes(uint32_t id_bytes);

}  // namespace bloomring
