// The surroundings of a RedisClient: streams of bytes to servers, the machine's clocks, chance, and who carries the
// loop of a client on. The product has threads and sockets there (redis_sockets.h); a test can have its own.
//
// Errors: kRetry for a stream that cannot be made, or that broke.
// Threading: a network is thread safe. The streams of a loop are used within its turns; `wake` is for any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "state/redis/redis_reply.h"

namespace bloomring {

// Both directions of one connection.
class RedisStream {
 public:
  virtual ~RedisStream() = default;
  // Whether the stream connects, once it can be written to.
  virtual Status finish_connecting() = 0;
  // Takes a beginning of the bytes, of 0 bytes or more: how many.
  virtual Result<size_t> write(std::string_view bytes) = 0;
  // How many bytes came; 0: none now.
  virtual Result<size_t> read(std::span<char> into) = 0;
};

// A stream that a loop waits for.
struct RedisReadiness {
  RedisStream* stream = nullptr;
  bool writes = false;     // It connects, or there is something to write...
  bool can_write = false;  // ...and it is time to. Also where it broke...
  bool can_read = false;   // ...as here.
  bool ready() const { return can_write || can_read; }
};

// Carries one client on.
class RedisLoop {
 public:
  virtual ~RedisLoop() = default;
  // Calls `turn` again and again until it is false. `name`: at most 15 characters.
  virtual void run(std::string name, std::function<bool()> turn) = 0;
  // The next turn is due.
  virtual void wake() = 0;
  // Of a turn: waits for a stream, for `wake`, or for so long.
  virtual void wait(std::span<RedisReadiness> streams, int timeout_ms) = 0;
  // Waits for the last turn.
  virtual void join() = 0;
};

class RedisNetwork {
 public:
  virtual ~RedisNetwork() = default;
  virtual const Clock& clock() const = 0;
  virtual uint64_t random_number() = 0;
  // Without waiting.
  virtual Result<std::unique_ptr<RedisStream>> connect(const RedisAddress& to) = 0;
  virtual std::unique_ptr<RedisLoop> make_loop() = 0;
  // For a caller that is about to wait: where no threads carry the loops on, this does, until `done`.
  virtual void carry_on_until(const std::function<bool()>& done) = 0;
};

}  // namespace bloomring
