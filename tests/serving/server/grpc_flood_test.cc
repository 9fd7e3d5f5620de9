#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// A plain TCP connection to the service; closed without a farewell, so that no port is kept waiting.
class Connection {
 public:
  explicit Connection(const std::string& listens) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    REQUIRE(fd_ >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(listens.substr(listens.rfind(':') + 1))));
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Connection() {
    if (fd_ < 0) return;
    const linger reset{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd_);
  }

  // The preface of HTTP/2 with empty settings: from here on the service takes it for a client.
  void greet() const {
    static constexpr char kPreface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
    (void)send(fd_, kPreface, sizeof kPreface,
               MSG_NOSIGNAL);  // With the zero at the end: a frame header has nine bytes.
  }
  // Reads what has come; true when the service has closed it.
  bool dropped() const {
    char bytes[256];
    ssize_t got = 0;
    while ((got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) continue;
    return got == 0 || errno == ECONNRESET;
  }

 private:
  int fd_;
};

// Within a while: connections that are gone are cleared away first.
bool answers(Served& served) {
  const SystemClock clock;
  const auto answered = [&]() -> Result<bool> { return served.refusal([](v1::FilterRequest&) {}).ok(); };
  return wait_until(clock, 60'000, "an answer", answered).ok();
}

}  // namespace

TEST_CASE("grpc server: thousands of connections opened and dropped leave it answering") {
  Served served;
  for (int i = 0; i < 10'000; ++i) const Connection dropped(served.server->address());
  CHECK(answers(served));
}

TEST_CASE("grpc server: connections beyond its memory are dropped, and when the others are gone it answers") {
  Served served({.memory_bytes_max = 4 << 20});
  const SystemClock clock;
  {
    std::vector<Connection> held;
    const auto some_dropped = [&]() -> Result<bool> {
      return std::ranges::any_of(held, [](const Connection& connection) { return connection.dropped(); });
    };
    for (int i = 0; i < 800; ++i) held.emplace_back(served.server->address()).greet();
    CHECK(wait_until(clock, 60'000, "a connection to be dropped", some_dropped).ok());
  }
  CHECK(answers(served));
}
