#include "pipeline/admin/admin_client.h"

#include <civetweb.h>

#include <charconv>
#include <memory>

#include "base/config/listen_address.h"

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
  if (mg_get_response(connection.get(), error, sizeof error, timeout_ms) < 0)
    return retry(where.to_string() + ": " + error);
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
