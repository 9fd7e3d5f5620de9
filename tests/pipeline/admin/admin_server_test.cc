#include "pipeline/admin/admin_server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/http_get.h"

using namespace bloomring;
using namespace bloomring::test;

namespace {

struct Admin {
  Metrics metrics;
  Health health;
  std::unique_ptr<AdminServer> server =
      std::move(AdminServer::start("127.0.0.1:0", admin_pages(metrics, health))).value();
};

}  // namespace

TEST_CASE("admin port: port 0 takes a free port and says which") {
  Admin first, second;
  CHECK(first.server->port() != 0);
  CHECK(first.server->port() != second.server->port());
  CHECK(first.server->address() == "127.0.0.1:" + std::to_string(first.server->port()));
}

TEST_CASE("admin port: /metrics answers in the Prometheus text format") {
  Admin admin;
  constexpr MetricDecl kBlocks{"bloomring_test_blocks_total", MetricType::kCounter, "Test."};
  admin.metrics.counter(kBlocks).add(3);
  const HttpAnswer answer = http_get(admin.server->port(), "/metrics");
  CHECK(answer.status == 200);
  CHECK(answer.head.find("Content-Type: text/plain; version=0.0.4") != std::string::npos);
  CHECK(answer.body.find("bloomring_test_blocks_total 3\n") != std::string::npos);
  CHECK(http_get(admin.server->port(), "/metrics?name=x").status == 200);
}

TEST_CASE("admin port: readiness follows the parts and gives the reasons") {
  Admin admin;
  const uint16_t port = admin.server->port();
  CHECK(http_get(port, "/readyz").status == 503);  // Nothing has said that it is ready.
  CHECK(http_get(port, "/healthz").status == 200);
  admin.health.set_ready("serve");
  admin.health.set_not_ready("window", "rebuilding 3 of \"8\" partitions");
  const HttpAnswer waiting = http_get(port, "/readyz");
  CHECK(waiting.status == 503);
  const auto json = nlohmann::json::parse(waiting.body);
  CHECK(json["ready"] == false);
  CHECK(json["parts"]["serve"]["ready"] == true);
  CHECK(json["parts"]["window"]["reason"] == "rebuilding 3 of \"8\" partitions");
  CHECK(http_get(port, "/healthz").status == 200);
  admin.health.set_ready("window");
  CHECK(http_get(port, "/readyz").status == 200);
  CHECK(http_get(port, "/readyz").body ==
        "{\"ready\":true,\"parts\":{\"serve\":{\"ready\":true},\"window\":{\"ready\":true}}}\n");
}

TEST_CASE("admin port: a part that has failed makes the process neither alive nor ready") {
  Admin admin;
  admin.health.set_ready("merge");
  admin.health.set_failed("window", "disk full");
  CHECK(http_get(admin.server->port(), "/readyz").status == 503);
  const HttpAnswer answer = http_get(admin.server->port(), "/healthz");
  CHECK(answer.status == 503);
  CHECK(nlohmann::json::parse(answer.body)["parts"]["window"]["reason"] == "disk full");
  admin.health.clear("window");
  CHECK(http_get(admin.server->port(), "/healthz").status == 200);
}

TEST_CASE("admin port: only GET, only known pages") {
  Admin admin;
  const uint16_t port = admin.server->port();
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS"}) {
    INFO(method);
    CHECK(http_request(port, method, "/metrics").status == 405);
  }
  for (const char* target : {"/", "//", "//metrics", "/metrics/", "/metrics/../metrics", "/./metrics", "/nothing",
                             "/../etc/passwd", "/%2e%2e/etc/passwd"}) {
    INFO(target);
    const HttpAnswer answer = http_get(port, target);
    CHECK((answer.status == 404 || answer.status == 400));
  }
  CHECK(http_get(port, "/").body == "no such page; there are:\n/healthz\n/metrics\n/readyz\n");
}

TEST_CASE("admin port: a page with variants by query knows these alone, and sends its lines of the head") {
  AdminPages pages;
  pages["/"] = [] { return AdminPage{200, "text/html", "page", "One: 1\r\nTwo: 2"}; };
  pages["/?format=json"] = [] { return AdminPage{200, "application/json", "{}"}; };
  pages["/other"] = [] { return AdminPage{200, "text/plain", "other"}; };
  const auto server = std::move(AdminServer::start("127.0.0.1:0", pages)).value();
  const HttpAnswer page = http_get(server->port(), "/");
  CHECK(page.body == "page");
  CHECK(page.head.find("\r\nOne: 1\r\nTwo: 2") != std::string::npos);
  CHECK(page.head.find("Cache-Control: no-store") != std::string::npos);
  CHECK(page.head.find("X-Content-Type-Options: nosniff") != std::string::npos);
  CHECK(http_get(server->port(), "/?format=json").body == "{}");
  CHECK(http_get(server->port(), "/other?format=xml").body == "other");
  for (const char* query : {"/?", "/?format=xml", "/?format=json&x=1", "/?format=%6ason", "/?<script>"}) {
    INFO(query);
    const HttpAnswer refused = http_get(server->port(), query);
    if (std::string_view(query) == "/?" && refused.status == 200) continue;  // An empty query is none.
    CHECK(refused.status == 400);
    CHECK(refused.body == "no such query; there are:\n/?format=json\n");
  }
}

TEST_CASE("admin port: a page that throws is an error, and the server goes on") {
  AdminPages pages;
  pages["/bad"] = []() -> AdminPage { throw std::runtime_error("out of luck"); };
  pages["/good"] = [] { return AdminPage{200, "text/plain", "fine"}; };
  const auto server = std::move(AdminServer::start("127.0.0.1:0", pages)).value();
  CHECK(http_get(server->port(), "/bad").status == 500);
  CHECK(http_get(server->port(), "/good").body == "fine");
}

TEST_CASE("admin port: while pages that wait hang, the others are answered, and one more of them is refused") {
  std::promise<void> hangs;
  std::shared_future<void> until = hangs.get_future();
  std::atomic<int> waiting{0};
  const AdminPlaces places;
  AdminPages pages;
  for (const char* path : {"/metrics", "/status"}) {
    pages[path] = places.bound([&waiting, until] {
      ++waiting;
      until.wait();
      return AdminPage{200, "text/plain", "at last"};
    });
  }
  pages["/"] = [] { return AdminPage{200, "text/plain", "page"}; };
  const auto server = std::move(AdminServer::start("127.0.0.1:0", pages)).value();
  std::vector<std::thread> clients;
  std::atomic<int> answered{0};
  for (int i = 1; i < kAdminThreads; ++i) {
    const char* path = i % 2 == 0 ? "/metrics" : "/status";
    clients.emplace_back([&, path] { answered += http_get(server->port(), path).body == "at last"; });
  }
  const SystemClock clock;
  CHECK(wait_until(clock, 60'000, "all of them to wait", [&]() -> Result<bool> {
          return waiting == kAdminThreads - 1;
        }).ok());
  for (int i = 0; i < 2 * kAdminThreads; ++i) {
    CHECK(http_get(server->port(), "/").body == "page");
    CHECK(http_get(server->port(), "/metrics").status == 503);
  }
  hangs.set_value();
  for (std::thread& client : clients) client.join();
  CHECK(answered == kAdminThreads - 1);
  CHECK(http_get(server->port(), "/status").body == "at last");
}

namespace {

// As many clients as the server has threads, each of which asks for this and then crawls, while it lives.
class Crawling {
 public:
  Crawling(uint16_t port, const std::string& head) {
    for (int i = 0; i < kAdminThreads; ++i) clients_.push_back(std::make_unique<CrawlingClient>(port, head));
    thread_ = std::thread([this] {
      constexpr auto kPace = std::chrono::milliseconds(10);
      const std::future<void> end = end_.get_future();
      while (end.wait_for(kPace) == std::future_status::timeout) {
        for (const auto& client : clients_) {
          client->send_byte();
          client->read_some();
        }
      }
    });
  }
  ~Crawling() {
    end_.set_value();
    thread_.join();
  }

 private:
  std::vector<std::unique_ptr<CrawlingClient>> clients_;
  std::promise<void> end_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("admin port: clients that read an answer at a crawl, or send what nobody asked for, are cut off") {
  constexpr int kTimeoutMs = 300;
  std::atomic<int> asked{0};
  AdminPages pages;
  for (const auto& [path, bytes] : {std::pair("/large", 16 << 20), std::pair("/tiny", 1)}) {
    pages[path] = [&asked, text = std::string(bytes, 'x')] {
      ++asked;
      return AdminPage{200, "text/plain", text};
    };
  }
  pages["/small"] = [] { return AdminPage{200, "text/plain", "small"}; };
  const auto server =
      std::move(AdminServer::start("127.0.0.1:0", pages, {}, "admin.listen", kTimeoutMs)).value();
  const auto crawls = [&](const std::string& head) {
    const int before = asked;
    const Crawling clients(server->port(), head);
    const SystemClock clock;
    REQUIRE(wait_until(clock, 60'000, "a thread for each", [&]() -> Result<bool> {
              return asked == before + kAdminThreads;
            }).ok());
    CHECK(http_get(server->port(), "/small").body == "small");
  };
  crawls("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
  crawls("GET /tiny HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n");
  crawls("GET /tiny HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n");
}

TEST_CASE("admin port: bytes that are not HTTP do no harm") {
  Admin admin;
  (void)http_exchange(admin.server->port(), "\x16\x03\x01 this is not HTTP\r\n\r\n");
  (void)http_exchange(admin.server->port(), "GET / HTTP/9\r\n\r\n");
  CHECK(http_get(admin.server->port(), "/metrics").status == 200);
}

TEST_CASE("admin port: many clients at once are all answered") {
  Admin admin;
  std::vector<std::thread> clients;
  std::atomic<int> answered = 0;
  for (int i = 0; i < 16; ++i) {
    clients.emplace_back([&] { answered += http_get(admin.server->port(), "/metrics").status == 200; });
  }
  for (std::thread& client : clients) client.join();
  CHECK(answered == 16);
}

TEST_CASE("admin port: a taken port is refused with what to do") {
  Admin admin;
  const Result<std::unique_ptr<AdminServer>> second = AdminServer::start(admin.server->address(), {});
  REQUIRE_FALSE(second.ok());
  CHECK(second.code() == Code::kInvalid);
  const std::string message = second.status().message();
  INFO(message);
  CHECK(message.find("cannot listen on " + admin.server->address()) == 0);
  CHECK(message.find("Set admin.listen to a free one") != std::string::npos);
}

TEST_CASE("admin port: an address that is none is refused") {
  CHECK(AdminServer::start("9600", {}).code() == Code::kInvalid);
  CHECK(AdminServer::start("203.0.113.1:0", {}).code() == Code::kInvalid);  // Not an address of this machine.
}

namespace {

constexpr const char* kToken = "0123456789abcdef";

// A server with an action that counts.
struct Acting {
  std::atomic<int> done{0};
  Result<std::string> token = std::string(kToken);
  std::unique_ptr<AdminServer> server;

  Acting() {
    AdminActions actions;
    actions.token = [this] { return token; };
    actions.by_path["/act"] = [this] { return AdminPage{200, "text/plain", std::to_string(++done)}; };
    server = std::move(AdminServer::start("127.0.0.1:0", {}, actions)).value();
  }
  int post(const std::string& headers, const std::string& method = "POST") {
    const std::string answer = http_exchange(
        server->port(), method + " /act HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers + "\r\n");
    return std::stoi(answer.substr(answer.find(' ') + 1, 3));
  }
};

const std::string kBearer = std::string("Authorization: Bearer ") + kToken + "\r\n";

}  // namespace

TEST_CASE("admin port: an action needs the whole token") {
  Acting acting;
  for (const std::string& wrong : std::vector<std::string>{
           "", "Authorization: Bearer\r\n", "Authorization: Bearer 0123456789abcde\r\n",
           "Authorization: Bearer 0123456789abcdef0\r\n", "Authorization: Basic 0123456789abcdef\r\n",
           "Authorization: 0123456789abcdef\r\n", "X-Token: 0123456789abcdef\r\n"}) {
    INFO(wrong);
    CHECK(acting.post(wrong) == 401);
  }
  CHECK(acting.done == 0);
  CHECK(acting.post(kBearer) == 200);
  CHECK(acting.done == 1);
  CHECK(acting.post(kBearer, "GET") == 405);
}

TEST_CASE("admin port: an action is not for a page in a browser, even with the token") {
  Acting acting;
  CHECK(acting.post(kBearer + "Origin: http://evil.example\r\n") == 403);
  CHECK(acting.post(kBearer + "Origin: null\r\n") == 403);
  CHECK(acting.done == 0);
}

TEST_CASE("admin port: a page of another site that has its name lead here reads nothing, and acts not either") {
  Acting acting;
  const auto status = [&](const std::string& request, const std::string& host) {
    const std::string answer = http_exchange(
        acting.server->port(), request + " HTTP/1.1\r\n" + host + "\r\n" + kBearer + "Connection: close\r\n\r\n");
    CHECK(answer.find("evil") == std::string::npos);
    return std::stoi(answer.substr(answer.find(' ') + 1, 3));
  };
  for (const char* request : {"GET /act", "POST /act", "GET /"})
    CHECK(status(request, "Host: evil.example:9600") == 403);
  CHECK(acting.done == 0);
  CHECK(status("POST /act", "Host: [::1]:9600") == 200);
}

TEST_CASE("admin port: a name that is configured, or at which the port listens, is answered") {
  Metrics metrics;
  Health health;
  const auto server = std::move(AdminServer::start("localhost:0", admin_pages(metrics, health), {}, "admin.listen",
                                                   kAdminTimeoutMs, HostNames({"bloomring.internal"})))
                          .value();
  const auto status = [&](const std::string& host) {
    const std::string answer =
        http_exchange(server->port(), "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
    return std::stoi(answer.substr(answer.find(' ') + 1, 3));
  };
  CHECK(status("bloomring.internal:9600") == 200);
  CHECK(status("localhost") == 200);
  CHECK(status("other.internal") == 403);
}

TEST_CASE("admin port: a token that is replaced counts at once, and without one there is no action") {
  Acting acting;
  acting.token = std::string("another token of the site");
  CHECK(acting.post(kBearer) == 401);
  acting.token = invalid("no such file");
  CHECK(acting.post(kBearer) == 503);
  CHECK(acting.done == 0);
}

TEST_CASE("admin port: probes have a port of their own, which slow clients of the other one do not reach") {
  Admin admin;
  admin.health.set_ready("serve");
  const auto probes = std::move(AdminServer::start("127.0.0.1:0", probe_pages(admin.health))).value();
  std::vector<std::unique_ptr<SlowClient>> slow;
  for (int i = 0; i < 40; ++i) slow.push_back(std::make_unique<SlowClient>(admin.server->port()));
  for (int i = 0; i < 20; ++i) {
    CHECK(http_get(probes->port(), "/healthz").status == 200);
    CHECK(http_get(probes->port(), "/readyz").status == 200);
  }
  CHECK(http_get(probes->port(), "/metrics").status == 404);
  CHECK(slow.front()->open());  // They were there all the time.
}
