#include "state/redis/redis_reply.h"

#include <hiredis/read.h>

#include "base/words.h"
#include "state/redis/redis_slot.h"

namespace bloomring {

namespace {

constexpr size_t kHeadBytes = 32;
constexpr size_t kBufferBytesKept = 1 << 20;

RedisReply* place_of(const redisReadTask* task) {
  if (task->parent == nullptr) return new RedisReply();
  return &static_cast<RedisReply*>(task->parent->obj)->elements[static_cast<size_t>(task->idx)];
}

void* make_bytes(const redisReadTask* task, char* bytes, size_t size) {
  RedisReply* const reply = place_of(task);
  reply->kind = task->type == REDIS_REPLY_ERROR    ? RedisReply::Kind::kError
                : task->type == REDIS_REPLY_STATUS ? RedisReply::Kind::kStatus
                                                   : RedisReply::Kind::kBytes;
  reply->bytes.assign(bytes, size);
  return reply;
}

// hiredis counts in int, and from version 1 on in size_t. Null refuses the reply.
template <typename Count>
void* make_array(const redisReadTask* task, Count elements) {
  size_t& left = *static_cast<size_t*>(task->privdata);  // Of the reply that this array is a part of.
  if (task->parent == nullptr) left = RedisReply::kElementsMax;
  if (static_cast<size_t>(elements) > left) return nullptr;
  left -= static_cast<size_t>(elements);
  RedisReply* const reply = place_of(task);
  reply->kind = RedisReply::Kind::kArray;
  reply->elements.resize(static_cast<size_t>(elements));
  return reply;
}

void* make_integer(const redisReadTask* task, long long value) {  // NOLINT: hiredis's signature.
  RedisReply* const reply = place_of(task);
  reply->kind = RedisReply::Kind::kInteger;
  reply->integer = value;
  return reply;
}

void* make_nil(const redisReadTask* task) { return place_of(task); }

// Called for the outermost reply alone: the others are parts of it.
void free_reply(void* reply) { delete static_cast<RedisReply*>(reply); }

// hiredis 1 also reads numbers and truth values of RESP3, which no server sends unasked: they refuse the reply.
template <typename Functions>
Functions functions() {
  Functions made{};
  made.createString = make_bytes;
  made.createArray = make_array;
  made.createInteger = make_integer;
  made.createNil = make_nil;
  made.freeObject = free_reply;
  if constexpr (requires { made.createDouble, made.createBool; }) {
    made.createDouble = [](const redisReadTask*, double, char*, size_t) -> void* { return nullptr; };
    made.createBool = [](const redisReadTask*, int) -> void* { return nullptr; };
  }
  return made;
}

redisReplyObjectFunctions kFunctions = functions<redisReplyObjectFunctions>();

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text.push_back(c >= ' ' && c < '\x7f' ? c : '.');
  return text;
}

bool starts(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text.starts_with(word)) return true;
  return false;
}

}  // namespace

struct RedisReplyReader::Impl {
  size_t elements_left = 0;
  redisReader* const reader = redisReaderCreateWithFunctions(&kFunctions);
};

RedisReplyReader::RedisReplyReader() : impl_(std::make_unique<Impl>()) {
  BLOOMRING_CHECK(impl_->reader != nullptr, "memory for a reader of replies");
  impl_->reader->maxbuf = kBufferBytesKept;
  impl_->reader->privdata = &impl_->elements_left;
}

RedisReplyReader::~RedisReplyReader() { redisReaderFree(impl_->reader); }

Status RedisReplyReader::feed(std::string_view bytes) {
  if (head_.size() < kHeadBytes) head_ += bytes.substr(0, kHeadBytes - head_.size());
  if (redisReaderFeed(impl_->reader, bytes.data(), bytes.size()) == REDIS_OK) return {};
  return retry(std::string("the reply cannot be buffered: ") + impl_->reader->errstr);
}

void RedisReply::note_server(std::string address) {
  elements.resize(1);
  elements[0].kind = Kind::kBytes;
  elements[0].bytes = std::move(address);
}

Result<std::optional<RedisReply>> RedisReplyReader::next() {
  void* read = nullptr;
  if (redisReaderGetReply(impl_->reader, &read) != REDIS_OK) {
    return invalid("no server of the Redis protocol: it answers \"" + printable(head_) + "\"");
  }
  if (read == nullptr) return std::optional<RedisReply>();
  const std::unique_ptr<RedisReply> reply(static_cast<RedisReply*>(read));
  return std::optional(std::move(*reply));
}

void append_redis_command(std::string& out, std::initializer_list<std::string_view> words) {
  RedisCommand command(words.size());
  for (const std::string_view word : words) command.add(word);
  out += std::move(command).take();
}

void RedisCommand::begin(size_t words) {
  left_ = words;
  bytes_ = "*" + std::to_string(words) + "\r\n";
}

RedisCommand& RedisCommand::add(std::string_view word) {
  BLOOMRING_CHECK(left_ > 0, "a command has as many words as it announces");
  --left_;
  bytes_ += "$" + std::to_string(word.size()) + "\r\n";
  bytes_.append(word).append("\r\n");
  return *this;
}

std::string RedisCommand::take() && {
  BLOOMRING_CHECK(left_ == 0, "a command has as many words as it announces");
  return std::move(bytes_);
}

RedisError redis_error(std::string_view message) {
  if (starts(message, {"MOVED "})) return RedisError::kMoved;
  if (starts(message, {"ASK "})) return RedisError::kAsk;
  if (starts(message, {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "BUSY", "UNBLOCKED"}))
    return RedisError::kAgain;
  if (starts(message, {"READONLY"})) return RedisError::kReadOnly;
  if (starts(message, {"OOM", "MISCONF", "NOREPLICAS", "NOGOODSLAVE"})) return RedisError::kFull;
  if (starts(message, {"NOAUTH", "WRONGPASS", "ERR invalid password"})) return RedisError::kNoLogin;
  if (starts(message, {"NOPERM"})) return RedisError::kForbidden;
  if (starts(message, {"ERR unknown command", "ERR unknown subcommand", "ERR Unknown subcommand"}))
    return RedisError::kUnknownCommand;
  if (starts(message, {"WRONGTYPE"})) return RedisError::kWrongType;
  // Inside a script Redis 7 puts the words of the failed command behind its own.
  if (message.find("ACL failure in script") != std::string_view::npos ||
      message.find("The user executing the script can't") != std::string_view::npos)
    return RedisError::kForbidden;
  if (message.find("WRONGTYPE") != std::string_view::npos) return RedisError::kWrongType;
  if (message.find("Unknown Redis command called from") != std::string_view::npos) return RedisError::kUnknownCommand;
  if (message.find("-OOM") != std::string_view::npos || message.find("MISCONF") != std::string_view::npos)
    return RedisError::kFull;
  return RedisError::kOther;
}

Status redis_failure(const RedisReply& error, std::string_view what, const RedisNames& names) {
  const std::string server(error.server());
  const std::string text = (server.empty() ? "" : server + ": ") + std::string(what) + ": " + printable(error.bytes);
  switch (redis_error(error.bytes)) {
    case RedisError::kMoved:
    case RedisError::kAsk:
    case RedisError::kAgain:
    case RedisError::kReadOnly: return retry(text);
    case RedisError::kFull:
      return retry(text + ": the server takes no writes; give it room, the log keeps everything meanwhile");
    case RedisError::kNoLogin:
      return invalid(text + ": set " + names.key("user") + " and " + names.key("password_file") +
                     " to a user of the server");
    case RedisError::kForbidden:
      return invalid(text + ": the ACL of the user forbids it; allow it (ACL SETUSER) or name another user");
    case RedisError::kUnknownCommand:
      return invalid(text + ": the server lacks a command that the " + std::string(names.store) + " needs");
    case RedisError::kWrongType:
      return corrupt(text + ": another program has written a list, a hash or the like under a key of the filter store; "
                            "it is left alone. `bloomring store check` names such keys: rename or remove them");
    case RedisError::kOther: break;
  }
  return retry(text);
}

std::string RedisAddress::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string joined_addresses(const std::vector<RedisAddress>& addresses, std::string_view separator) {
  std::vector<std::string> texts;
  for (const RedisAddress& address : addresses) texts.push_back(address.text());
  return joined(texts, separator);
}

Result<RedisAddress> parse_redis_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  RedisAddress address;
  if (colon != std::string_view::npos) address.port = parse_redis_number<uint16_t>(text.substr(colon + 1)).value_or(0);
  if (address.port == 0) return invalid("\"" + printable(text) + "\" is no host:port");
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host;
  return address;
}

Result<RedisRedirect> parse_redirect(std::string_view message, const RedisAddress& from) {
  const size_t first = message.find(' ');
  const size_t second = message.find(' ', first == std::string_view::npos ? first : first + 1);
  std::optional<uint16_t> slot;
  if (second != std::string_view::npos)
    slot = parse_redis_number<uint16_t>(message.substr(first + 1, second - first - 1));
  if (!slot || *slot >= kRedisSlots) return retry(from.text() + " redirects nowhere: " + printable(message));
  RedisRedirect redirect{*slot, {}};
  auto to = parse_redis_address(message.substr(second + 1));
  if (!to.ok()) return retry(from.text() + " redirects nowhere: " + printable(message));
  redirect.to = std::move(*to);
  if (redirect.to.host.empty()) redirect.to.host = from.host;
  return redirect;
}

}  // namespace bloomring
