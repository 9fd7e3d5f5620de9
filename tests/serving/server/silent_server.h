// A server that takes connections, greets as HTTP/2 and says nothing more: as one whose host has vanished.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace bloomring {

class SilentServer {
 public:
  SilentServer() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener_, 16) == 0);
    REQUIRE(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { greet_all(); });
  }
  SilentServer(const SilentServer&) = delete;
  ~SilentServer() {
    shutdown(listener_, SHUT_RDWR);  // Ends accept().
    thread_.join();
    close(listener_);
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

 private:
  void greet_all() {
    constexpr char kSettings[9] = {0, 0, 0, 4, 0, 0, 0, 0, 0};  // An empty SETTINGS frame (RFC 9113, 6.5).
    std::vector<int> held;
    for (int fd = 0; (fd = accept(listener_, nullptr, nullptr)) >= 0;) {
      (void)send(fd, kSettings, sizeof kSettings, MSG_NOSIGNAL);
      held.push_back(fd);
      ++connections_;
    }
    for (const int fd : held) close(fd);
  }

  const int listener_;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::thread thread_;  // Last: it uses the rest.
};

}  // namespace bloomring
