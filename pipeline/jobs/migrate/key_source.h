// The keys of the old store that a job goes through, in steps, with a position that another process can go on from.
//
//   ScannedKeys   all keys of the servers, by SCAN (state/legacy/legacy_scan.h)
//   ListedKeys    the lines of a file; empty lines are left out. A line of a FoundFile, {"key":"hist:17",...}, names
//                 its key: so it can have keys that no line could hold
//   ListedUsers   the keys of the users in the lines of a file
//
// Errors: kRetry when a server is away: call again. kInvalid for a file that cannot be read, or has other lines before
// the position, and for a position of another form.
// Threading: one thread. Waits for servers.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schemas/legacy/legacy_layout.h"
#include "state/legacy/legacy_scan.h"
#include "state/redis/redis_client.h"

namespace bloomring {

class KeySource {
 public:
  virtual ~KeySource() = default;
  // Called first; again: begins again. The empty position is the beginning.
  virtual Status begin(const std::string& position) = 0;
  // The keys of the next step, perhaps none; nothing at the end.
  virtual Result<std::optional<std::vector<std::string>>> next() = 0;
  // Behind the keys that `next` has given.
  virtual std::string position() const = 0;
  // How many keys there are in all, roughly.
  virtual Result<uint64_t> total() = 0;
};

class ScannedKeys final : public KeySource {
 public:
  // The client outlives it.
  ScannedKeys(RedisClient& client, std::string glob) : client_(client), glob_(std::move(glob)) {}

  Status begin(const std::string& position) override;
  Result<std::optional<std::vector<std::string>>> next() override { return scan_->next(); }
  std::string position() const override { return scan_->position().text(); }
  // All keys of the servers (DBSIZE), also those of no pattern.
  Result<uint64_t> total() override;

 private:
  RedisClient& client_;
  const std::string glob_;
  std::optional<LegacyScan> scan_;
};

class ListedKeys final : public KeySource {
 public:
  static constexpr size_t kKeysOfStep = 200;

  explicit ListedKeys(std::string path) : path_(std::move(path)) {}

  Status begin(const std::string& position) override;
  Result<std::optional<std::vector<std::string>>> next() override;
  // "line 400 17d0...": lines, and the hash of all of them.
  std::string position() const override;
  Result<uint64_t> total() override;

 private:
  bool read_line(std::string& line);

  const std::string path_;
  std::ifstream file_;
  uint64_t lines_ = 0;  // Read...
  uint64_t hash_ = 0;   // ...and their hash.
};

// Each line is a user id. The user has a key for each pattern of the layout and each of its scenes; a line that is no
// user id is given as it is, and refused as a key.
class ListedUsers final : public KeySource {
 public:
  // kInvalid for a layout whose keys have scenes, where no scenes are named: they cannot be told from a user id.
  static Result<std::unique_ptr<ListedUsers>> open(std::string path, const LegacyLayout& layout);

  Status begin(const std::string& position) override { return lines_.begin(position); }
  Result<std::optional<std::vector<std::string>>> next() override;
  std::string position() const override { return lines_.position(); }
  Result<uint64_t> total() override;

 private:
  // The layout outlives it.
  ListedUsers(std::string path, const LegacyLayout& layout);
  std::vector<std::string> keys_of(const std::string& user) const;

  const LegacyLayout& layout_;
  const std::vector<std::string> scenes_;
  ListedKeys lines_;
};

}  // namespace bloomring
