#include "state/redis/redis_connection.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/host/addresses.h"

namespace bloomring {

namespace {

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kReadsAtOnce = 16;  // Then other connections have their turn.

std::string reason(int error) { return std::strerror(error); }

// A socket that connects in the background.
Result<int> connect_to(const RedisAddress& address) {
  const auto found = resolve(address.host, address.port, AddressUse::kConnect);
  if (!found.ok()) return retry(address.text() + ": " + found.status().message());
  const addrinfo& first = **found;
  const int made = ::socket(first.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return retry(address.text() + ": no socket: " + reason(errno));
  const int on = 1;
  static_cast<void>(::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  static_cast<void>(::setsockopt(made, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
  if (::connect(made, first.ai_addr, first.ai_addrlen) == 0 || errno == EINPROGRESS) return made;
  const int error = errno;
  ::close(made);
  return retry(address.text() + ": " + reason(error));
}

}  // namespace

RedisConnection::RedisConnection(RedisAddress address, const RedisNames& names, int socket, uint64_t number,
                                 int64_t now_ns)
    : address_(std::move(address)), names_(names), socket_(socket), number_(number), heard_ns_(now_ns) {}

RedisConnection::~RedisConnection() { ::close(socket_); }

Result<std::unique_ptr<RedisConnection>> RedisConnection::open(const RedisAddress& address, const RedisLogin& login,
                                                               const RedisNames& names, bool to_replica,
                                                               uint64_t number, int64_t now_ns) {
  BLOOMRING_TRY_ASSIGN(const int socket, connect_to(address));
  std::unique_ptr<RedisConnection> connection(new RedisConnection(address, names, socket, number, now_ns));
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

short RedisConnection::events() const {
  const bool writes = connecting_ || out_begin_ < out_.size();
  return static_cast<short>(POLLIN | (writes ? POLLOUT : 0));
}

void RedisConnection::send(SharedRequest request, bool asking) {
  if (asking) append_redis_command(out_, {"ASKING"});
  out_ += request->commands;
  request->got.clear();
  awaited_.push_back({std::move(request), asking ? 1U : 0U, {}});
}

Status RedisConnection::advance(short revents, int64_t now_ns, std::vector<SharedRequest>& answered) {
  if (connecting_) {
    if ((revents & (POLLOUT | POLLERR | POLLHUP)) == 0) return {};
    BLOOMRING_TRY(finish_connecting());
    heard_ns_ = now_ns;
  }
  BLOOMRING_TRY(write_out());
  if ((revents & (POLLIN | POLLERR | POLLHUP)) != 0) {
    const Status read = read_in(now_ns);
    BLOOMRING_TRY(take_replies(answered));  // Also what came before the end.
    return read;
  }
  return {};
}

Status RedisConnection::finish_connecting() {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  if (error != 0) return retry(address_.text() + ": " + reason(error));
  connecting_ = false;
  return {};
}

Status RedisConnection::write_out() {
  while (out_begin_ < out_.size()) {
    const ssize_t sent = ::send(socket_, out_.data() + out_begin_, out_.size() - out_begin_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return retry(address_.text() + ": " + reason(errno));
    out_begin_ += static_cast<size_t>(sent);
    bytes_sent_ += static_cast<uint64_t>(sent);
  }
  out_.clear();
  out_begin_ = 0;
  if (out_.capacity() > (1 << 20)) out_.shrink_to_fit();
  return {};
}

Status RedisConnection::read_in(int64_t now_ns) {
  std::array<char, kReadBytes> buffer;  // NOLINT: filled by the read.
  for (size_t i = 0; i < kReadsAtOnce; ++i) {
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (got < 0) return retry(address_.text() + ": " + reason(errno));
    if (got == 0) return retry(address_.text() + ": the server has closed the connection");
    heard_ns_ = now_ns;
    bytes_received_ += static_cast<uint64_t>(got);
    BLOOMRING_TRY(reader_.feed({buffer.data(), static_cast<size_t>(got)}).with_context(address_.text()));
    if (static_cast<size_t>(got) < buffer.size()) return {};
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
