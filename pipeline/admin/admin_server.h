// The admin port: small pages over HTTP for machines and the person on call, and a few actions.
//
// Pages are answered by exact path and GET, actions by exact path and POST; anything else is 404 or 405. A page may
// have variants by query ("/?format=json"): then every other query is 400. Other pages ignore their query. An action
// takes no parameters from the request; the configuration determines its effect. Pages are for everybody who reaches
// the port. An action needs the token (pipeline/admin/admin_token.h) in `Authorization: Bearer TOKEN`: without it the
// answer is 401. A request with an `Origin` comes from a page in a browser and is refused with 403; so is every request
// that calls the port by a name which nobody configured (pipeline/admin/host_names.h). The log has a line
// for each action, and for refused requests at growing intervals. At most kAdminThreads requests are answered at the
// same time. A client that is slow to ask or to read is cut off after the timeout, and the body of a request is never
// read, so no client can keep others from the metrics for long.
// Errors: kInvalid when the address cannot be used, with the remedy.
// Threading: the server's threads call pages and actions, several at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/metrics/metrics.h"
#include "base/result.h"
#include "pipeline/admin/host_names.h"
#include "pipeline/runtime/health.h"

namespace bloomring {

inline constexpr int kAdminThreads = 4;
inline constexpr int kAdminTimeoutMs = 5000;

struct AdminPage {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string header = {};  // More lines of the head, as "Allow: GET", joined by CRLF; none when empty.
};

using AdminPages = std::map<std::string, std::function<AdminPage()>>;  // By path: "/metrics", or path and query.

struct AdminActions {
  std::map<std::string, std::function<AdminPage()>> by_path = {};  // "/store/backup".
  std::function<Result<std::string>()> token = {};                 // Asked at each action; needed where there are any.
};

// Leaves a thread of the server to pages that wait for nothing, so that these answer while a disk or a stage hangs, of
// which the others tell. At most kAdminThreads - 1 requests for what is bound to the same places are in progress at
// once; a further one is answered with 503.
// Threading: what was bound may be called from any thread, and outlives this.
class AdminPlaces {
 public:
  std::function<AdminPage()> bound(std::function<AdminPage()> page) const;

 private:
  std::shared_ptr<std::atomic<int>> taken_ = std::make_shared<std::atomic<int>>(0);  // Shared with what was bound.
};

// /healthz and /readyz (503 with the reasons when not healthy or not ready). `health` outlives the server.
AdminPages probe_pages(const Health& health);
// The same, and /metrics. Both outlive the server.
AdminPages admin_pages(const Metrics& metrics, const Health& health);

class AdminServer {
 public:
  // `listen` is "host:port", the value of the setting `key`; port 0 takes any free one. `names`: by which it may be
  // asked; a name in `listen` is one of them.
  static Result<std::unique_ptr<AdminServer>> start(const std::string& listen, AdminPages pages,
                                                    AdminActions actions = {}, const std::string& key = "admin.listen",
                                                    int timeout_ms = kAdminTimeoutMs,
                                                    const HostNames& names = HostNames());
  // Waits for the requests in progress.
  ~AdminServer();
  AdminServer(const AdminServer&) = delete;
  AdminServer& operator=(const AdminServer&) = delete;

  uint16_t port() const;
  // "127.0.0.1:40003": the requested host, with the port in use.
  std::string address() const;

  struct Impl;

 private:
  explicit AdminServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace bloomring
