// A plain TCP connection to "127.0.0.1:port".
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <utility>

namespace bloomring {

// Closed without a farewell, so that no port is kept waiting.
class TcpClient {
 public:
  TcpClient() : fd_(socket(AF_INET, SOCK_STREAM, 0)) { REQUIRE(fd_ >= 0); }
  explicit TcpClient(const std::string& listens) : TcpClient() { REQUIRE(reaches(listens)); }
  // From another address of this machine, as "127.0.0.2".
  TcpClient(const std::string& listens, const char* from) : TcpClient() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    REQUIRE(inet_pton(AF_INET, from, &address.sin_addr) == 1);
    REQUIRE(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(reaches(listens));
  }
  TcpClient(TcpClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~TcpClient() {
    if (fd_ < 0) return;
    const linger reset{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd_);
  }

  // Connects; false when nobody listens.
  bool reaches(const std::string& listens) const {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(listens.substr(listens.rfind(':') + 1))));
    return connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
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

}  // namespace bloomring
