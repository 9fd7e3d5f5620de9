// An import into an embedded filter store (state/store/store_import.h). The store's lock keeps other processes out.
//
// Guarantees beyond those of StoreImport: the watermarks and the end of the mark are one write.
// Threading: used by one thread.
#pragma once

#include <functional>
#include <memory>

#include "schemas/store/store_meta.h"
#include "state/store/embedded/filter_rows.h"
#include "state/store/store_import.h"

namespace rocksdb {
class WriteBatch;
}

namespace bloomring {

class EmbeddedImport final : public StoreImport {
 public:
  using Write = std::function<Status(rocksdb::WriteBatch& batch, bool durably)>;

  // `marked`: the description of the store while this import is under way. `rows` borrows from the store, which
  // outlives the import. kInvalid when the store has data of another origin.
  static Result<std::unique_ptr<StoreImport>> begin(FilterRows rows, const StoreMeta& marked,
                                                    const Watermarks& watermarks, Write write);

  Status write(std::span<const ExportedValue> values) override;
  Status end(const Watermarks& watermarks) override;

 private:
  EmbeddedImport(StoreMeta meta, Write write) : meta_(std::move(meta)), write_(std::move(write)) {}

  const StoreMeta meta_;
  const Write write_;
};

}  // namespace bloomring
