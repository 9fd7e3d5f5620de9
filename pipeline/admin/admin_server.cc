#include "pipeline/admin/admin_server.h"

#include <civetweb.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/config/listen_address.h"
#include "base/log.h"
#include "base/running_log.h"
#include "pipeline/admin/admin_token.h"

namespace bloomring {
namespace {

// The last log line of civetweb: the reason of a failed start, later about broken connections. Written by its threads.
struct LastMessage {
  std::mutex mutex;
  std::string text;
};

}  // namespace

struct AdminServer::Impl {
  AdminPages pages;
  AdminActions actions;
  HostNames names;
  ListenAddress address;
  int timeout_ms = 0;
  LastMessage last_message;
  std::atomic<uint64_t> refused{0};
  mg_context* context = nullptr;

  ~Impl() {
    if (context != nullptr) mg_stop(context);
    mg_exit_library();
  }
};

namespace {

const char* reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 429: return "Too Many Requests";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
  }
  return "Unknown";
}

// Civetweb bounds each write, and not all of an answer: a client that reads a byte now and then would keep the thread.
void send_bytes(mg_connection* connection, std::string_view bytes, int64_t until_ns) {
  constexpr size_t kPieceBytes = 4096;
  const SystemClock clock;
  while (!bytes.empty() && clock.steady_ns() < until_ns) {
    const int written = mg_write(connection, bytes.data(), std::min(bytes.size(), kPieceBytes));
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void send_page(mg_connection* connection, const AdminPage& page, int timeout_ms) {
  const std::string head = "HTTP/1.1 " + std::to_string(page.status) + " " + reason_phrase(page.status) +
                           "\r\nContent-Type: " + page.content_type +
                           "\r\nContent-Length: " + std::to_string(page.body.size()) +
                           "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close" +
                           (page.header.empty() ? "" : "\r\n" + page.header) + "\r\n\r\n";
  const int64_t until_ns = SystemClock().steady_ns() + timeout_ms * int64_t{1'000'000};
  send_bytes(connection, head, until_ns);
  send_bytes(connection, page.body, until_ns);
}

AdminPage call(const std::string& path, const std::function<AdminPage()>& page) {
  try {
    return page();
  } catch (const std::exception& error) {
    log_error("an admin page failed", {{"page", path}, {"reason", error.what()}});
    return {500, "text/plain; charset=utf-8", "the page failed; the log says why\n"};
  }
}

AdminPage text_page(int status, std::string text, std::string header = "") {
  return {status, "text/plain; charset=utf-8", std::move(text), std::move(header)};
}

// The answer that refuses an action; nothing when the request may have it.
std::optional<AdminPage> refusal(const AdminServer::Impl& server, const mg_connection& connection) {
  if (mg_get_header(&connection, "Origin") != nullptr) {
    return text_page(403, "an action is not for a page in a browser: the request has an Origin\n");
  }
  const auto token = server.actions.token ? server.actions.token() : Result<std::string>(invalid("there is none"));
  if (!token.ok()) {
    log_error("no action without a token: " + token.status().message());
    return text_page(503, "the token of this process cannot be read; its log says why\n");
  }
  const char* given = mg_get_header(&connection, "Authorization");
  if (given != nullptr && same_token(given, "Bearer " + *token)) return std::nullopt;
  return text_page(401,
                   "an action needs the header `Authorization: Bearer TOKEN`, with the token of admin.token_file (or "
                   "of admin.token under store.path, where that is not set)\n",
                   "WWW-Authenticate: Bearer");
}

AdminPage act(AdminServer::Impl& server, const mg_connection& connection, const std::string& path,
              const std::function<AdminPage()>& action) {
  const char* const peer = mg_get_request_info(&connection)->remote_addr;
  if (auto refused = refusal(server, connection)) {
    const uint64_t count = ++server.refused;
    if (std::has_single_bit(count)) {
      log_audit(LogLevel::kWarning, "an action was refused",
                {{"action", path}, {"peer", peer}, {"status", refused->status}, {"refused", count}});
    }
    return *std::move(refused);
  }
  AdminPage done = call(path, action);
  log_audit(LogLevel::kInfo, "an action", {{"action", path}, {"peer", peer}, {"status", done.status}});
  return done;
}

// The known pages that begin so, a line each.
std::string known_with(const AdminPages& pages, const std::string& begin) {
  std::string list;
  for (auto page = pages.lower_bound(begin); page != pages.end() && page->first.starts_with(begin); ++page)
    list += page->first + "\n";
  return list;
}

// The page of the path, or its variant by the query; nothing where it has variants and this is none.
const std::function<AdminPage()>* variant(const AdminPages& pages, const std::string& path, const char* query) {
  const auto page = pages.find(path);
  const auto next = pages.lower_bound(path + "?");
  if (query == nullptr || next == pages.end() || !next->first.starts_with(path + "?")) return &page->second;
  const auto exact = pages.find(path + "?" + query);
  return exact == pages.end() ? nullptr : &exact->second;
}

// Of a listener at a name: whoever was told where it listens asks by that.
bool is_known(const AdminServer::Impl& server, const char* host) {
  return server.names.allow(host) || host_of_header(host) == server.address.host;
}

AdminPage answer(AdminServer::Impl& server, const mg_connection& connection) {
  if (!is_known(server, mg_get_header(&connection, "Host"))) {
    return text_page(403,
                     "the Host header has a name by which this port is not known: ask by an address, or add the name "
                     "to admin.hosts\n");
  }
  const mg_request_info& request = *mg_get_request_info(&connection);
  // As it was asked: civetweb's local_uri would make /metrics/../ a page.
  const std::string path = request.local_uri_raw == nullptr ? "" : request.local_uri_raw;
  const auto page = server.pages.find(path);
  const auto action = server.actions.by_path.find(path);
  const bool is_page = page != server.pages.end(), is_action = action != server.actions.by_path.end();
  const bool get = std::strcmp(request.request_method, "GET") == 0,
             post = std::strcmp(request.request_method, "POST") == 0;
  if (is_page && get) {
    if (const auto* wanted = variant(server.pages, path, request.query_string)) return call(path, *wanted);
    return text_page(400, "no such query; there are:\n" + known_with(server.pages, path + "?"));
  }
  if (is_action && post) return act(server, connection, path, action->second);
  if (is_page) return text_page(405, "GET only\n", "Allow: GET");
  if (is_action) return text_page(405, "POST only\n", "Allow: POST");
  std::string list = known_with(server.pages, "/");
  for (const auto& [known, unused] : server.actions.by_path) list += known + " (POST)\n";
  return text_page(404, "no such page; there are:\n" + list);
}

int handle_request(mg_connection* connection, void* impl) {
  auto& server = *static_cast<AdminServer::Impl*>(impl);
  const AdminPage page = answer(server, *connection);
  send_page(connection, page, server.timeout_ms);
  mg_disable_connection_keep_alive(connection);  // Else it would wait for a body that was announced and is not wanted.
  return page.status;
}

int keep_message(const mg_connection* connection, const char* message) {
  auto* last = static_cast<LastMessage*>(mg_get_user_data(mg_get_context(connection)));
  if (last == nullptr) return 1;
  const std::lock_guard lock(last->mutex);
  last->text = message;
  return 1;
}

Status cannot_listen(const std::string& key, const std::string& listen, const std::string& reason) {
  return invalid("cannot listen on " + listen + (reason.empty() ? "" : ": " + reason) +
                 "; is the port taken by another process? Set " + key + " to a free one, or to port 0 for any");
}

}  // namespace

std::function<AdminPage()> AdminPlaces::bound(std::function<AdminPage()> page) const {
  return [taken = taken_, page = std::move(page)] {
    const std::unique_ptr<std::atomic<int>, void (*)(std::atomic<int>*)> place(taken.get(), [](auto* all) { --*all; });
    if (++*taken < kAdminThreads) return page();
    return text_page(503, "other requests for this page wait for their answers; the log and / may say why\n");
  };
}

AdminPages probe_pages(const Health& health) {
  AdminPages pages;
  pages["/healthz"] = [&] { return AdminPage{health.alive() ? 200 : 503, "application/json", health.alive_json()}; };
  pages["/readyz"] = [&] { return AdminPage{health.ready() ? 200 : 503, "application/json", health.ready_json()}; };
  return pages;
}

AdminPages admin_pages(const Metrics& metrics, const Health& health) {
  AdminPages pages = probe_pages(health);
  pages["/metrics"] = [&] { return AdminPage{200, "text/plain; version=0.0.4; charset=utf-8", metrics.text()}; };
  return pages;
}

Result<std::unique_ptr<AdminServer>> AdminServer::start(const std::string& listen, AdminPages pages,
                                                        AdminActions actions, const std::string& key,
                                                        int timeout_ms, const HostNames& names) {
  BLOOMRING_TRY_ASSIGN(const ListenAddress address, parse_listen_address(listen));
  mg_init_library(0);
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
  impl->actions = std::move(actions);
  impl->address = address;
  impl->names = names;
  impl->timeout_ms = timeout_ms;
  const std::string port = address.to_string(), threads = std::to_string(kAdminThreads);
  const std::string timeout = std::to_string(timeout_ms);
  const char* options[] = {"listening_ports",
                           port.c_str(),
                           "num_threads",
                           threads.c_str(),
                           "request_timeout_ms",
                           timeout.c_str(),
                           "enable_keep_alive",
                           "no",
                           "enable_directory_listing",
                           "no",
                           nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = keep_message;
  mg_init_data init{&callbacks, &impl->last_message, options};
  char text[256] = {};
  mg_error_data error{};  // By name: civetweb 1.16 has other members before these.
  error.text = text;
  error.text_buffer_size = sizeof text;
  impl->context = mg_start2(&init, &error);
  const std::string& reason = impl->last_message.text;
  if (impl->context == nullptr) return cannot_listen(key, listen, reason.empty() ? text : reason);
  mg_server_port bound{};
  if (mg_get_server_ports(impl->context, 1, &bound) != 1) return cannot_listen(key, listen, "no port was bound");
  impl->address.port = static_cast<uint16_t>(bound.port);
  mg_set_request_handler(impl->context, "/", handle_request, impl.get());
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

uint16_t AdminServer::port() const { return impl_->address.port; }
std::string AdminServer::address() const { return impl_->address.to_string(); }

}  // namespace bloomring
