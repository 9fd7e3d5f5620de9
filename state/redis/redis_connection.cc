#include "state/redis/redis_connection.h"

#include <algorithm>
#include <array>
#include <utility>

namespace bloomring {

namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kReadsAtOnce = 16;  // Then other connections have their turn.

}  // namespace

RedisConnection::RedisConnection(RedisAddress address, const RedisNames& names, std::unique_ptr<RedisStream> stream,
                                 uint64_t number, int64_t now_ns)
    : address_(std::move(address)), names_(names), stream_(std::move(stream)), number_(number), heard_ns_(now_ns) {}

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(RedisNetwork& network, const RedisAddress& address,
                                                               const RedisLogin& login, const RedisNames& names,
                                                               bool to_replica, uint64_t number, int64_t now_ns) {
  auto stream = network.connect(address);
  if (!stream.ok()) return std::move(stream).status().with_context(address.text());
  std::unique_ptr<RedisConnection> connection(new RedisConnection(address, names, std::move(*stream), number, now_ns));
  connection->log_in(login, to_replica);
  return connection;
}

void RedisConnection::log_in(const RedisLogin& login, bool to_replica) {
  if (!login.password.empty()) {
    if (login.user.empty())
      append_redis_command(out_, {"AUTH", login.password});
    else
      append_redis_command(out_, {"AUTH", login.user, login.password});
    awaited_.push_back({nullptr, 0, "AUTH"});
  }
  if (to_replica) {
    append_redis_command(out_, {"READONLY"});
    awaited_.push_back({nullptr, 0, "READONLY"});
  }
  logged_in_ = awaited_.empty();
}

void RedisConnection::send(SharedRequest request, bool asking) {
  if (asking) append_redis_command(out_, {"ASKING"});
  out_ += request->commands;
  request->got.clear();
  awaited_.push_back({std::move(request), asking ? 1U : 0U, {}});
}

Status RedisConnection::advance(const RedisReadiness& ready, int64_t now_ns, std::vector<SharedRequest>& answered) {
  if (connecting_) {
    if (!ready.can_write) return {};
    BLOOMRING_TRY(stream_->finish_connecting().with_context(address_.text()));
    connecting_ = false;
    heard_ns_ = now_ns;
  }
  BLOOMRING_TRY(write_out().with_context(address_.text()));
  if (!ready.can_read) return {};
  const Status read = read_in(now_ns).with_context(address_.text());
  BLOOMRING_TRY(take_replies(answered));  // Also what came before the end.
  return read;
}

Status RedisConnection::write_out() {
  while (out_begin_ < out_.size()) {
    BLOOMRING_TRY_ASSIGN(const size_t sent, stream_->write(std::string_view(out_).substr(out_begin_)));
    if (sent == 0) return {};
    out_begin_ += sent;
    bytes_sent_ += sent;
  }
  out_.clear();
  out_begin_ = 0;
  if (out_.capacity() > (1 << 20)) out_.shrink_to_fit();
  return {};
}

Status RedisConnection::read_in(int64_t now_ns) {
  std::array<char, kReadBytes> buffer;  // NOLINT: filled by the read.
  for (size_t i = 0; i < kReadsAtOnce; ++i) {
    BLOOMRING_TRY_ASSIGN(const size_t got, stream_->read(buffer));
    if (got == 0) return {};
    heard_ns_ = now_ns;
    bytes_received_ += got;
    BLOOMRING_TRY(reader_.feed({buffer.data(), got}));
    if (got < buffer.size()) return {};
  }
  return {};
}

Status RedisConnection::take_replies(std::vector<SharedRequest>& answered) {
  while (true) {
    auto next = reader_.next();
    if (!next.ok())
      return invalid(address_.text() + ": " + next.status().message() +
                     "; name a server of that protocol in " + names_.key("addresses"));
    if (!*next) return {};
    // A server that takes no more clients says so before it was asked anything.
    if (awaited_.empty()) return retry(address_.text() + ": " + (*next)->bytes.substr(0, 100));
    Awaited& first = awaited_.front();
    if (!first.request) {
      BLOOMRING_TRY(take_login(**next, first.login_word));
      awaited_.pop_front();
      logged_in_ = logged_in_ || awaited_.empty() || awaited_.front().request;
      continue;
    }
    if (first.leading > 0) {
      --first.leading;
      continue;
    }
    first.request->got.push_back(std::move(**next));
    if (first.request->got.size() < first.request->replies) continue;
    answered.push_back(std::move(first.request));
    awaited_.pop_front();
  }
}

Status RedisConnection::take_login(const RedisReply& reply, const std::string& word) {
  if (!reply.error()) return {};
  // A server that is no cluster serves reads without READONLY.
  if (word == "READONLY" && redis_error(reply.bytes) == RedisError::kOther) return {};
  return redis_failure(reply, address_.text() + ": " + word, names_);
}

std::vector<SharedRequest> RedisConnection::take_in_flight() {
  std::vector<SharedRequest> all;
  for (Awaited& one : awaited_)
    if (one.request) all.push_back(std::move(one.request));
  awaited_.clear();
  return all;
}

std::optional<int64_t> RedisConnection::silent_since_ns() const {
  if (awaited_.empty() && !connecting_) return std::nullopt;
  int64_t since_ns = heard_ns_;
  // Quiet time before the oldest question does not count.
  if (!awaited_.empty() && awaited_.front().request) since_ns = std::max(since_ns, awaited_.front().request->begun_ns);
  return since_ns;
}

std::optional<int64_t> RedisConnection::oldest_deadline_ns() const {
  if (awaited_.empty() || !awaited_.front().request) return std::nullopt;
  return awaited_.front().request->deadline_ns;
}

}  // namespace bloomring
