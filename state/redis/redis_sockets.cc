#include "state/redis/redis_sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/host/addresses.h"

namespace bloomring {

namespace {

std::string reason(int error) { return std::strerror(error); }

bool is_not_now(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

class SocketStream final : public RedisStream {
 public:
  explicit SocketStream(int socket) : socket_(socket) {}
  ~SocketStream() override { ::close(socket_); }
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;

  int socket() const { return socket_; }

  Status finish_connecting() override {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    return error == 0 ? Status() : retry(reason(error));
  }

  Result<size_t> write(std::string_view bytes) override {
    while (true) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) return static_cast<size_t>(sent);
      if (is_not_now(errno)) return size_t{0};
      if (errno != EINTR) return retry(reason(errno));
    }
  }

  Result<size_t> read(std::span<char> into) override {
    while (true) {
      const ssize_t got = ::recv(socket_, into.data(), into.size(), 0);
      if (got > 0) return static_cast<size_t>(got);
      if (got == 0) return retry("the server has closed the connection");
      if (is_not_now(errno)) return size_t{0};
      if (errno != EINTR) return retry(reason(errno));
    }
  }

 private:
  const int socket_;
};

class ThreadLoop final : public RedisLoop {
 public:
  ThreadLoop() : wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    BLOOMRING_CHECK(wake_ >= 0, "an event to wake the client's thread");
  }
  ~ThreadLoop() override {
    join();
    ::close(wake_);
  }
  ThreadLoop(const ThreadLoop&) = delete;
  ThreadLoop& operator=(const ThreadLoop&) = delete;

  void run(std::string name, std::function<bool()> turn) override {
    thread_ = std::thread([name = std::move(name), turn = std::move(turn)] {
      static_cast<void>(::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str()));
      while (turn()) continue;
    });
  }

  void wake() override {
    const uint64_t one = 1;
    static_cast<void>(!::write(wake_, &one, sizeof one));
  }

  void wait(std::span<RedisReadiness> streams, int timeout_ms) override {
    std::vector<pollfd> sockets{{wake_, POLLIN, 0}};
    for (const RedisReadiness& one : streams) {
      const auto events = static_cast<short>(POLLIN | (one.writes ? POLLOUT : 0));
      sockets.push_back({static_cast<const SocketStream*>(one.stream)->socket(), events, 0});
    }
    static_cast<void>(::poll(sockets.data(), sockets.size(), timeout_ms));
    if (sockets[0].revents != 0) {
      uint64_t count = 0;
      static_cast<void>(!::read(wake_, &count, sizeof count));
    }
    for (size_t i = 0; i < streams.size(); ++i) {
      const int found = sockets[i + 1].revents;
      streams[i].can_write = (found & (POLLOUT | POLLERR | POLLHUP)) != 0;
      streams[i].can_read = (found & (POLLIN | POLLERR | POLLHUP)) != 0;
    }
  }

  void join() override {
    if (thread_.joinable()) thread_.join();
  }

 private:
  const int wake_;
  std::thread thread_;
};

class Sockets final : public RedisNetwork {
 public:
  const Clock& clock() const override { return clock_; }

  uint64_t random_number() override {
    std::random_device device;
    return static_cast<uint64_t>(device()) << 32 | device();
  }

  // The socket connects in the background.
  Result<std::unique_ptr<RedisStream>> connect(const RedisAddress& to) override {
    const auto found = resolve(to.host, to.port, AddressUse::kConnect);
    if (!found.ok()) return retry(found.status().message());
    const addrinfo& first = **found;
    const int made = ::socket(first.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) return retry("no socket: " + reason(errno));
    std::unique_ptr<RedisStream> stream = std::make_unique<SocketStream>(made);
    const int on = 1;
    static_cast<void>(::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    static_cast<void>(::setsockopt(made, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on));
    if (::connect(made, first.ai_addr, first.ai_addrlen) == 0 || errno == EINPROGRESS) return stream;
    return retry(reason(errno));
  }

  std::unique_ptr<RedisLoop> make_loop() override { return std::make_unique<ThreadLoop>(); }
  void carry_on_until(const std::function<bool()>&) override {}  // Threads do.

 private:
  const SystemClock clock_{};
};

}  // namespace

RedisNetwork& redis_sockets() {
  static Sockets sockets;
  return sockets;
}

}  // namespace bloomring
