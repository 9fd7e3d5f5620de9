// One connection to one server: connects without waiting, logs in, sends commands in a pipeline, and gives each reply
// to the request that it answers, in order.
//
// Errors: kRetry when the connection cannot be made or breaks; kInvalid when the server refuses the login or speaks
// another protocol. After an error the connection is of no use; `take_in_flight` returns what it had not answered.
// Threading: used by one thread, which waits as `waits_for` says.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "state/redis/redis_network.h"
#include "state/redis/redis_reply.h"

namespace bloomring {

struct RedisLogin {
  std::string user;      // Empty: the default user.
  std::string password;  // Empty: no login.
};

// Of a request: the reply to each of its commands. An error reply is a reply; the failure is the way there.
using RedisAnswer = Result<std::vector<RedisReply>>;

// Of requests that must go over one connection, since a server that started again would answer the later ones in
// another way: the first request binds it, and each later one ends with kRetry when that connection is gone.
struct RedisBinding {
  uint64_t connection = 0;  // The number of the connection; 0: not bound yet.
  bool broken = false;      // A request ended because the connection is gone.
};

struct RedisRequest {
  std::string commands;                // As bytes, one after the other; they go over one connection, unbroken.
  uint32_t replies = 1;                // Number of the commands.
  uint16_t slot = 0;                   // The primary of this slot is asked...
  std::optional<RedisAddress> server;  // ...or this server.
  bool to_replica = false;             // A replica of the slot, where there is one.
  bool fail_fast = false;              // kRetry at once when the server is known to be away.
  int64_t timeout_ms = 0;              // 0: that of the client.
  std::shared_ptr<RedisBinding> binding = {};  // Shared with the caller, who reads it after the end.
  std::function<void(RedisAnswer)> end = {};  // Called once, on the client's thread. Must not block.
  int64_t late_ms = 0;  // Where the request has not ended by then...
  std::function<void()> late = {};  // ...this is called once, as `end` is. Empty: nothing is.
};

// A request as the client's thread carries it.
struct RoutedRequest : RedisRequest {
  explicit RoutedRequest(RedisRequest request) : RedisRequest(std::move(request)) {}
  int64_t begun_ns = 0;
  int64_t deadline_ns = 0;
  uint32_t attempts = 0;
  bool internal = false;  // The client's own: never tried again.
  bool ended = false;
  RedisAddress asked = {};  // The server that it was sent to last; without a port before that.
  std::vector<RedisReply> got = {};
};
// Shared by the connection that awaits its reply and the bound of its time.
using SharedRequest = std::shared_ptr<RoutedRequest>;

class RedisConnection {
 public:
  // `number`: not 0; no other connection of the owner has it.
  static Result<std::unique_ptr<RedisConnection>> open(RedisNetwork& network, const RedisAddress& address,
                                                       const RedisLogin& login, const RedisNames& names,
                                                       bool to_replica, uint64_t number, int64_t now_ns);

  // Waits for its stream, and for writing to it where there is something to write.
  RedisReadiness waits_for() const { return {stream_.get(), connecting_ || out_begin_ < out_.size()}; }
  const RedisAddress& address() const { return address_; }
  uint64_t number() const { return number_; }

  void send(SharedRequest request, bool asking);
  // Reads and writes what it can. Appends the requests whose replies are complete (`got`).
  Status advance(const RedisReadiness& ready, int64_t now_ns, std::vector<SharedRequest>& answered);
  std::vector<SharedRequest> take_in_flight();

  bool logged_in() const { return logged_in_; }
  // Since when something has been awaited without a byte from the server; nothing when nothing is awaited.
  std::optional<int64_t> silent_since_ns() const;
  // Until when the oldest request was to be answered; nothing when none is awaited.
  std::optional<int64_t> oldest_deadline_ns() const;
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }

 private:
  struct Awaited {
    SharedRequest request;    // Null: a part of the login.
    uint32_t leading = 0;     // Replies before those of the request: of ASKING.
    std::string login_word;   // The command of the login.
  };
  RedisConnection(RedisAddress address, const RedisNames& names, std::unique_ptr<RedisStream> stream, uint64_t number,
                  int64_t now_ns);
  void log_in(const RedisLogin& login, bool to_replica);
  Status write_out();
  Status read_in(int64_t now_ns);
  Status take_replies(std::vector<SharedRequest>& answered);
  Status take_login(const RedisReply& reply, const std::string& word);

  const RedisAddress address_;
  const RedisNames names_;
  const std::unique_ptr<RedisStream> stream_;
  const uint64_t number_;
  bool connecting_ = true;
  bool logged_in_ = false;
  int64_t heard_ns_;
  std::string out_;
  size_t out_begin_ = 0;
  RedisReplyReader reader_;
  std::deque<Awaited> awaited_;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
};

}  // namespace bloomring
