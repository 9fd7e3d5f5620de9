#include "pipeline/admin/admin_server.h"

#include <civetweb.h>

#include <cstring>
#include <mutex>

#include "base/config/listen_address.h"
#include "base/log.h"

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
  ListenAddress address;
  LastMessage last_message;
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
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
  }
  return "Unknown";
}

void send_page(mg_connection* connection, const AdminPage& page) {
  const std::string head = "HTTP/1.1 " + std::to_string(page.status) + " " + reason_phrase(page.status) +
                           "\r\nContent-Type: " + page.content_type +
                           "\r\nContent-Length: " + std::to_string(page.body.size()) +
                           "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close" +
                           (page.allow.empty() ? "" : "\r\nAllow: " + page.allow) + "\r\n\r\n";
  mg_write(connection, head.data(), head.size());
  mg_write(connection, page.body.data(), page.body.size());
}

AdminPage call(const std::string& path, const std::function<AdminPage()>& page) {
  try {
    return page();
  } catch (const std::exception& error) {
    log_error("an admin page failed", {{"page", path}, {"reason", error.what()}});
    return {500, "text/plain; charset=utf-8", "the page failed; the log says why\n"};
  }
}

AdminPage answer(const AdminServer::Impl& server, const mg_request_info& request) {
  const std::string path = request.local_uri == nullptr ? "" : request.local_uri;
  const auto page = server.pages.find(path), action = server.actions.find(path);
  const bool is_page = page != server.pages.end(), is_action = action != server.actions.end();
  const bool get = std::strcmp(request.request_method, "GET") == 0,
             post = std::strcmp(request.request_method, "POST") == 0;
  if (is_page && get) return call(path, page->second);
  if (is_action && post) return call(path, action->second);
  if (is_page) return {405, "text/plain; charset=utf-8", "GET only\n", "GET"};
  if (is_action) return {405, "text/plain; charset=utf-8", "POST only\n", "POST"};
  std::string list;
  for (const auto& [known, unused] : server.pages) list += known + "\n";
  for (const auto& [known, unused] : server.actions) list += known + " (POST)\n";
  return {404, "text/plain; charset=utf-8", "no such page; there are:\n" + list};
}

int handle_request(mg_connection* connection, void* server) {
  const AdminPage page = answer(*static_cast<const AdminServer::Impl*>(server), *mg_get_request_info(connection));
  send_page(connection, page);
  return page.status;
}

int keep_message(const mg_connection* connection, const char* message) {
  auto* last = static_cast<LastMessage*>(mg_get_user_data(mg_get_context(connection)));
  if (last == nullptr) return 1;
  const std::lock_guard lock(last->mutex);
  last->text = message;
  return 1;
}

Status cannot_listen(const std::string& listen, const std::string& reason) {
  return invalid("cannot listen on " + listen + (reason.empty() ? "" : ": " + reason) +
                 "; is the port taken by another process? Set admin.listen to a free one, or to port 0 for any");
}

}  // namespace

AdminPages admin_pages(const Metrics& metrics, const Health& health) {
  AdminPages pages;
  pages["/metrics"] = [&] { return AdminPage{200, "text/plain; version=0.0.4; charset=utf-8", metrics.text()}; };
  pages["/healthz"] = [&] { return AdminPage{health.alive() ? 200 : 503, "application/json", health.alive_json()}; };
  pages["/readyz"] = [&] { return AdminPage{health.ready() ? 200 : 503, "application/json", health.ready_json()}; };
  return pages;
}

Result<std::unique_ptr<AdminServer>> AdminServer::start(const std::string& listen, AdminPages pages,
                                                        AdminActions actions) {
  BLOOMRING_TRY_ASSIGN(const ListenAddress address, parse_listen_address(listen));
  mg_init_library(0);
  auto impl = std::make_unique<Impl>();
  impl->pages = std::move(pages);
  impl->actions = std::move(actions);
  impl->address = address;
  const std::string port = address.to_string(), threads = std::to_string(kAdminThreads);
  const std::string timeout = std::to_string(kAdminTimeoutMs);
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
  unsigned code = 0;
  mg_error_data error{&code, text, sizeof text};
  impl->context = mg_start2(&init, &error);
  const std::string& reason = impl->last_message.text;
  if (impl->context == nullptr) return cannot_listen(listen, reason.empty() ? text : reason);
  mg_server_port bound{};
  if (mg_get_server_ports(impl->context, 1, &bound) != 1) return cannot_listen(listen, "no port was bound");
  impl->address.port = static_cast<uint16_t>(bound.port);
  mg_set_request_handler(impl->context, "/", handle_request, impl.get());
  return std::unique_ptr<AdminServer>(new AdminServer(std::move(impl)));
}

AdminServer::AdminServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AdminServer::~AdminServer() = default;

uint16_t AdminServer::port() const { return impl_->address.port; }
std::string AdminServer::address() const { return impl_->address.to_string(); }

}  // namespace bloomring
