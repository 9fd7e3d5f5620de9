#include "pipeline/admin/admin_client.h"

#include <civetweb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "base/config/listen_address.h"
#include "base/host/addresses.h"

namespace bloomring {

namespace {

constexpr size_t kPageBytesMax = 64 << 20;
constexpr int kPageTimeoutMs = 5'000;
constexpr int kActionTimeoutMs = 24 * 3'600'000;  // A large store takes hours to copy.

struct Close {
  void operator()(mg_connection* connection) const { mg_close_connection(connection); }
};

std::string read_body(mg_connection* connection) {
  std::string body;
  char buffer[16384];
  for (int n; body.size() < kPageBytesMax && (n = mg_read(connection, buffer, sizeof buffer)) > 0;) {
    body.append(buffer, static_cast<size_t>(n));
  }
  return body;
}

// The first bytes of the answer to a request without a token, none where the connection is closed instead; nothing
// where none come within a second.
std::optional<std::string> first_bytes(const ListenAddress& where) {
  constexpr std::string_view kRequest = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const auto found = resolve(where.host, where.port, AddressUse::kConnect);
  if (!found.ok()) return std::nullopt;
  const addrinfo& first = **found;
  const int socket = ::socket(first.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 9> bytes{};
  ssize_t came = -1;
  if (::connect(socket, first.ai_addr, first.ai_addrlen) == 0 &&
      ::send(socket, kRequest.data(), kRequest.size(), MSG_NOSIGNAL) > 0)
    came = ::recv(socket, bytes.data(), bytes.size(), MSG_WAITALL);
  ::close(socket);
  if (came < 0) return std::nullopt;
  return std::string(bytes.data(), static_cast<size_t>(came));
}

// The port that answers there instead of the admin port, in words; empty when it cannot be told.
std::string other_port(const ListenAddress& where) {
  constexpr size_t kFrameHead = 9, kFrameType = 3;
  constexpr char kSettings = 4;
  const auto bytes = first_bytes(where);
  if (bytes && bytes->size() == kFrameHead && (*bytes)[kFrameType] == kSettings)  // RFC 9113, 3.4.
    return "a gRPC port answers there (serve.listen?), and it has no pages: ask at admin.listen";
  if (bytes && bytes->empty())
    return "the port closes the connection at a request of HTTP, as one with TLS does (serve.listen?): ask at "
           "admin.listen";
  return "";
}

Result<AdminPage> ask(const std::string& address, const char* method, const std::string& path, int timeout_ms,
                      const std::string& header = "") {
  BLOOMRING_TRY_ASSIGN(const ListenAddress listens, parse_listen_address(address));
  const ListenAddress where = listens.reachable();
  if (where.port == 0)
    return invalid("admin address " + address + " has no port: name the one that the process has told");
  char error[256] = {};
  const std::unique_ptr<mg_connection, Close> connection(
      mg_connect_client(where.host.c_str(), where.port, 0, error, sizeof error));
  if (!connection) return retry(where.to_string() + ": " + error);
  const std::string request = std::string(method) + " " + path + " HTTP/1.1\r\nHost: " + where.host +
                              "\r\nContent-Length: 0\r\nConnection: close\r\n" + header + "\r\n";
  mg_write(connection.get(), request.data(), request.size());
  if (mg_get_response(connection.get(), error, sizeof error, timeout_ms) < 0) {
    const std::string other = other_port(where);
    return retry(where.to_string() + ": " + (other.empty() ? error : other));
  }
  AdminPage page;
  page.status = mg_get_response_info(connection.get())->status_code;
  page.body = read_body(connection.get());
  return page;
}

}  // namespace

Result<AdminPage> read_admin_page(const std::string& address, const std::string& path) {
  return ask(address, "GET", path, kPageTimeoutMs);
}

Result<std::string> get_admin_page(const std::string& address, const std::string& path) {
  BLOOMRING_TRY_ASSIGN(AdminPage page, read_admin_page(address, path));
  if (page.status != 200) return retry(address + path + " answered " + std::to_string(page.status) + ": " + page.body);
  return std::move(page.body);
}

Result<AdminPage> post_admin_action(const std::string& address, const std::string& path, const std::string& token) {
  return ask(address, "POST", path, kActionTimeoutMs, "Authorization: Bearer " + token + "\r\n");
}

Result<double> metric_value(std::string_view page, std::string_view name) {
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = std::min(page.find('\n', begin), page.size());
    const std::string_view line = page.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(name) || line.substr(name.size(), 1) != " ") continue;
    double value = 0;
    const char* first = line.data() + name.size() + 1;
    if (std::from_chars(first, line.data() + line.size(), value).ec == std::errc()) return value;
  }
  return retry("no metric " + std::string(name));
}

}  // namespace bloomring
