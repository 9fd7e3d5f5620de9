// The writer of one partition of a Redis filter store (state/store/filter_writer.h).
//
// Guarantees beyond those of PartitionWriter: a writer that was replaced writes nothing; a union is lost neither to
// another writer nor to an answer that was lost on the way.
// Threading: used by one thread; its operations go on by themselves on the thread of the client.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "state/store/filter_writer.h"
#include "state/store/redis/redis_writes.h"

namespace bloomring {

class RedisPartitionWriter final : public PartitionWriter {
 public:
  // `marks` carries requests that wait for replicas. Everything outlives the writer.
  RedisPartitionWriter(RedisStoreParts& parts, RedisClient& writes, RedisClient& marks,
                       std::shared_ptr<RedisFence> fence)
      : parts_(parts), writes_(writes), marks_(marks), fence_(std::move(fence)) {}
  ~RedisPartitionWriter() override;

  void begin_read_forgotten(std::span<const UserRef> users) override;
  void begin_apply(std::span<const ForgottenUpdate> forgotten, std::span<const FilterUpdate> updates) override;
  void begin_sync() override;
  void begin_advance(const MergedWatermark& watermark) override;
  std::optional<Status> poll() override;
  std::vector<Forgotten> take_forgotten() override { return std::exchange(forgotten_, {}); }
  std::optional<int64_t> merged_ms() const override { return parts_.clock.merged_ms(); }

 private:
  Status prepare(std::span<const ForgottenUpdate> forgotten, std::vector<RedisChange>& out);
  Status prepare(std::span<const FilterUpdate> updates, std::vector<RedisChange>& out);
  void end_at_once(Status status);

  RedisStoreParts& parts_;
  RedisClient& writes_;
  RedisClient& marks_;
  const std::shared_ptr<RedisFence> fence_;  // Shared with requests that outlive the writer.
  // Shared with the requests of the operation.
  std::shared_ptr<RedisOperation> operation_;
  std::shared_ptr<RedisReadForgotten> reading_;  // The same operation, where it reads.
  std::optional<Status> ended_;                  // Of an operation that needed no server.
  std::vector<Forgotten> forgotten_;
  std::map<std::string, std::string, std::less<>> read_bytes_;  // Of the last read, by logical key.
};

}  // namespace bloomring
