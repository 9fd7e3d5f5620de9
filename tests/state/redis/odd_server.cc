#include "tests/state/redis/odd_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace bloomring::testing {

namespace {

void must(bool done) { BLOOMRING_CHECK(done, "what a test does with its odd server works"); }

sockaddr_in loopback(uint16_t port) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return place;
}

// The next whole value of the stream and its bytes; nothing at its end.
std::optional<RedisReply> next_value(int socket, RedisReplyReader& reader, std::string& bytes) {
  std::array<char, 65536> buffer{};
  while (true) {
    auto next = reader.next();
    must(next.ok());
    if (*next) return std::move(**next);
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    if (got <= 0) return std::nullopt;
    bytes.append(buffer.data(), static_cast<size_t>(got));
    must(reader.feed({buffer.data(), static_cast<size_t>(got)}).ok());
  }
}

void send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

}  // namespace

OddServer::OddServer(const RedisServer& behind, Answer answer)
    : behind_(behind), answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in place = loopback(0);
  socklen_t size = sizeof place;
  must(::bind(listener_, reinterpret_cast<sockaddr*>(&place), size) == 0);
  must(::getsockname(listener_, reinterpret_cast<sockaddr*>(&place), &size) == 0);
  must(::listen(listener_, 64) == 0);
  address_ = {"127.0.0.1", ntohs(place.sin_port)};
  accepting_ = std::thread([this] { accept_all(); });
}

OddServer::~OddServer() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  for (std::thread& thread : threads_) thread.join();
  for (const int socket : sockets_) ::close(socket);
  ::close(listener_);
}

void OddServer::accept_all() {
  while (true) {
    const int client = ::accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(client);
    if (stop_) return;
    threads_.emplace_back([this, client] { serve(client); });
  }
}

void OddServer::serve(int client) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in place = loopback(behind_.address().port);
  const bool connected = ::connect(server, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
  RedisReplyReader commands, replies;
  std::string unused;
  while (connected) {
    const auto command = next_value(client, commands, unused);
    if (!command) break;
    Words words;
    for (const RedisReply& word : command->elements) words.push_back(word.bytes);
    if (const auto answer = answer_(words)) {
      send_all(client, *answer);
      continue;
    }
    RedisCommand again(words.size());
    for (const std::string& word : words) again.add(word);
    send_all(server, std::move(again).take());
    std::string reply;
    if (!next_value(server, replies, reply)) break;
    send_all(client, reply);
  }
  ::close(server);
  ::shutdown(client, SHUT_RDWR);
}

}  // namespace bloomring::testing
