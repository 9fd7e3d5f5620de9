#include "tests/support/http_get.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace bloomring::test {

namespace {

// `receive_bytes`: of the socket's buffer; 0: the system's choice.
int connected_to(uint16_t port, int receive_bytes = 0) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (receive_bytes > 0) setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  return fd;
}

}  // namespace

std::string http_exchange(uint16_t port, const std::string& request) {
  const int fd = connected_to(port);
  (void)send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, static_cast<size_t>(n));
  close(fd);
  return answer;
}

HttpAnswer http_request(uint16_t port, const std::string& method, const std::string& target) {
  const std::string text =
      http_exchange(port, method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  HttpAnswer answer;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.status = std::stoi(text.substr(text.find(' ') + 1, 3));
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

HttpAnswer http_get(uint16_t port, const std::string& target) { return http_request(port, "GET", target); }

SlowClient::SlowClient(uint16_t port) : socket_(connected_to(port)) {
  (void)send(socket_, "GET /metrics HT", 15, MSG_NOSIGNAL);
}

SlowClient::~SlowClient() { close(socket_); }

bool SlowClient::open() const {
  char byte = 0;
  return recv(socket_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
}

CrawlingClient::CrawlingClient(uint16_t port, const std::string& head) : socket_(connected_to(port, 1)) {
  (void)send(socket_, head.data(), head.size(), MSG_NOSIGNAL);
}

CrawlingClient::~CrawlingClient() { close(socket_); }

void CrawlingClient::send_byte() const { (void)send(socket_, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT); }

void CrawlingClient::read_some() const {
  char bytes[512];
  (void)recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
}

}  // namespace bloomring::test
