// Cuts the batches of users into user batches records of bounded size.
//
// A user whose plays or forgets do not fit into one record is in several. The merge stage merges each record alone, and
// may read those of one drain in any order. So the record of a play also holds the forgets of its item and those of
// everything, and repeats them in each record where they matter.
// Guarantees: a record has at most 2 * record_bytes_max, or holds one play with its forgets; a user is at most once in
// it; the same batches in the same order give the same records.
// Threading: one thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "schemas/user_batch.h"

namespace bloomring {

class UserBatchWriter {
 public:
  // A record is closed at `record_bytes_max`.
  UserBatchWriter(DrainHeader header, size_t record_bytes_max);

  // Takes one user's forgets and plays, as UserBatchBuilder::add does, and appends the records that are complete. The
  // same user may be added again after `close`.
  void add(std::string_view user_key, std::span<const Forget> forgets, std::span<const DrainedPlay> plays,
           std::vector<std::string>& records);
  // Appends the record that is open, if any, unless it is the same as one before: the parts of a pass each hold the
  // forgets of everything, and the merge stage counts the different records of a drain (operators/filters/merge.h).
  void close(std::vector<std::string>& records);

  uint64_t batches() const { return batches_; }  // Entries of users: one that spans n records counts n times.
  uint64_t records() const { return written_.size(); }
  uint64_t digest() const { return digest_; }  // Of the records (record_digest).

 private:
  void add_forgets(std::string_view user_key, std::span<const Forget> forgets,
                   std::vector<std::string>& records);
  void add_plays(std::string_view user_key, std::span<const Forget> forgets, std::span<const DrainedPlay> plays,
                 std::vector<std::string>& records);
  void add_piece(std::string_view user_key, std::span<const Forget> forgets, std::span<const DrainedPlay> plays);

  DrainHeader header_;
  size_t record_bytes_max_;
  UserBatchBuilder builder_;
  std::vector<Forget> piece_forgets_;
  std::unordered_set<uint64_t> written_;  // Digests of the records, as the merge stage keeps them.
  uint64_t digest_ = 0;
  uint64_t batches_ = 0;
};

}  // namespace bloomring
