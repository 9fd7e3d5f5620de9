// An import into a Redis filter store (state/store/store_import.h). It takes every partition over and writes under
// their fences, as a merge stage does: a stage that runs meanwhile ends.
//
// A value that is there already, as in an import that is resumed, costs a read and no write.
// Errors: as store_import.h and redis_fence.h.
// Threading: used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "state/store/redis/redis_fence.h"
#include "state/store/redis/redis_writes.h"
#include "state/store/store_import.h"

namespace bloomring {

class RedisImport final : public StoreImport {
 public:
  // Everything outlives the import. `marks` carries requests that wait for replicas.
  static Result<std::unique_ptr<StoreImport>> begin(RedisStoreParts& parts, RedisClient& writes, RedisClient& marks,
                                                    const Watermarks& watermarks);

  Status write(std::span<const ExportedValue> values) override;
  Status end(const Watermarks& watermarks) override;

 private:
  RedisImport(RedisStoreParts& parts, RedisClient& writes, RedisClient& marks)
      : parts_(parts), writes_(writes), marks_(marks) {}
  Status take_partitions();
  Status mark(const Watermarks& watermarks);
  Status check_empty();
  Status check_watermarks(const Watermarks& watermarks);
  // Replaces the description where it is still `stored`.
  Status describe(const std::string& stored, uint64_t import_id);
  Result<RedisChange> change_of(const ExportedValue& value) const;

  RedisStoreParts& parts_;
  RedisClient& writes_;
  RedisClient& marks_;
  std::vector<std::shared_ptr<RedisFence>> fences_;  // By partition. Shared with requests that outlive an operation.
};

}  // namespace bloomring
