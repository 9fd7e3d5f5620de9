// One HTTP request to a server of this machine, for tests of the admin port.
#pragma once

#include <cstdint>
#include <string>

namespace bloomring::test {

struct HttpAnswer {
  int status = 0;  // 0 when the server closed the connection without an answer.
  std::string head;
  std::string body;
};

// Connects to 127.0.0.1:port, sends the bytes, and reads until the server closes.
std::string http_exchange(uint16_t port, const std::string& request);
HttpAnswer http_request(uint16_t port, const std::string& method, const std::string& target);
HttpAnswer http_get(uint16_t port, const std::string& target);

// Sends the first bytes of a request and nothing more, until it is destroyed.
class SlowClient {
 public:
  explicit SlowClient(uint16_t port);
  ~SlowClient();
  SlowClient(const SlowClient&) = delete;
  SlowClient& operator=(const SlowClient&) = delete;
  bool open() const;  // The server has not closed the connection.

 private:
  int socket_;
};

// A client that has sent `head` and goes on at a crawl: it sends a byte of a body, and reads a few bytes of the answer.
class CrawlingClient {
 public:
  CrawlingClient(uint16_t port, const std::string& head);
  ~CrawlingClient();
  CrawlingClient(const CrawlingClient&) = delete;
  CrawlingClient& operator=(const CrawlingClient&) = delete;
  void send_byte() const;
  void read_some() const;

 private:
  int socket_;
};

}  // namespace bloomring::test
