#include "tests/support/http_get.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace bloomring::test {

std::string http_exchange(uint16_t port, const std::string& request) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    close(fd);
    throw std::runtime_error("cannot connect to port " + std::to_string(port));
  }
  (void)send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;) answer.append(buffer, static_cast<size_t>(n));
  close(fd);
  return answer;
}

HttpAnswer http_request(uint16_t port, const std::string& method, const std::string& target) {
  const std::string text =
      http_exchange(port, method + " " + target + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
  HttpAnswer answer;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.status = std::stoi(text.substr(text.find(' ') + 1, 3));
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

HttpAnswer http_get(uint16_t port, const std::string& target) { return http_request(port, "GET", target); }

}  // namespace bloomring::test
