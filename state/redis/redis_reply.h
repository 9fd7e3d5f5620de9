// The Redis protocol (RESP2): commands as bytes, replies as values, and the meaning of error replies. The parser is
// hiredis's; nothing else of hiredis is used (docs/decisions/0050-a-filter-store-on-servers-of-the-redis-protocol.md).
//
// Errors: kInvalid for bytes that are not this protocol: the endpoint is another kind of server.
// Threading: values and pure functions; a RedisReplyReader is used by one thread.
#pragma once

#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace bloomring {

struct RedisReply {
  enum class Kind : uint8_t { kNil, kInteger, kStatus, kBytes, kError, kArray };
  Kind kind = Kind::kNil;
  int64_t integer = 0;
  std::string bytes;  // Of a status, bytes or an error.
  std::vector<RedisReply> elements;  // Of an array; see `server`.
  static constexpr size_t kElementsMax = 1 << 20;  // In all arrays of a reply together.

  bool is(Kind other) const { return kind == other; }
  bool error() const { return kind == Kind::kError; }
  // The server that sent an error, "host:port", once the client has noted it; else empty.
  std::string_view server() const { return error() && !elements.empty() ? elements[0].bytes : std::string_view(); }
  void note_server(std::string address);
};

// Takes the stream of one connection apart.
class RedisReplyReader {
 public:
  RedisReplyReader();
  ~RedisReplyReader();
  RedisReplyReader(const RedisReplyReader&) = delete;
  RedisReplyReader& operator=(const RedisReplyReader&) = delete;

  Status feed(std::string_view bytes);
  // The next whole reply; nothing while it has not arrived.
  Result<std::optional<RedisReply>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::string head_;  // The first bytes of the stream, for the message when it is no RESP.
};

void append_redis_command(std::string& out, std::initializer_list<std::string_view> words);

// A command with any number of words, built word by word.
class RedisCommand {
 public:
  explicit RedisCommand(size_t words) { begin(words); }
  RedisCommand& add(std::string_view word);
  RedisCommand& add(int64_t number) { return add(std::string_view(std::to_string(number))); }
  // After all announced words were added.
  std::string take() &&;

 private:
  void begin(size_t words);
  size_t left_ = 0;
  std::string bytes_;
};

// The reactions that error replies ask for.
enum class RedisError : uint8_t {
  kMoved,           // Another server has the slot, for good...
  kAsk,             // ...or for this one command.
  kAgain,           // TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN, BUSY: a passing state of the server.
  kReadOnly,        // The server is a replica now.
  kFull,            // OOM, MISCONF, NOREPLICAS: it takes no writes.
  kNoLogin,         // NOAUTH, WRONGPASS.
  kForbidden,       // NOPERM.
  kUnknownCommand,  // The server does not have the command.
  kWrongType,       // The key holds no string.
  kOther,
};

RedisError redis_error(std::string_view message);

// The names in messages: of the store whose servers a client asks, and of the section of its settings. Texts of the
// program.
struct RedisNames {
  std::string_view store = "filter store";
  std::string_view settings = "store.redis";
  std::string key(std::string_view name) const { return std::string(settings) + "." + std::string(name); }
};

// The status of an error reply that the caller cannot react to otherwise; `what` names the operation. The message
// begins with the server, if it is known.
Status redis_failure(const RedisReply& error, std::string_view what, const RedisNames& names = {});

// A whole number as servers write it. Nothing for other text, and for a number that does not fit.
template <typename Number>
std::optional<Number> parse_redis_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

struct RedisAddress {
  std::string host;
  uint16_t port = 0;
  auto operator<=>(const RedisAddress&) const = default;
  std::string text() const;
};

std::string joined_addresses(const std::vector<RedisAddress>& addresses, std::string_view separator = ", ");

// "host:port", "[::1]:port". kInvalid for anything else.
Result<RedisAddress> parse_redis_address(std::string_view text);
// Of "MOVED 3999 127.0.0.1:6381" and "ASK ...". An empty host means the server that answered.
struct RedisRedirect {
  uint16_t slot = 0;
  RedisAddress to;
};
Result<RedisRedirect> parse_redirect(std::string_view message, const RedisAddress& from);

}  // namespace bloomring
