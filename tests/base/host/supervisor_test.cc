#include "base/host/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace bloomring;

namespace {

// A supervisor's socket; `name` as NOTIFY_SOCKET has it.
class Ear {
 public:
  explicit Ear(const std::string& name) : file_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(file_, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  }
  ~Ear() { ::close(file_); }
  std::vector<std::string> heard() const {
    std::vector<std::string> all;
    char text[256];
    for (ssize_t size; (size = ::recv(file_, text, sizeof text, MSG_DONTWAIT)) >= 0;)
      all.emplace_back(text, static_cast<size_t>(size));
    return all;
  }

 private:
  int file_;
};

using Heard = std::vector<std::string>;

std::string abstract_name() { return "@bloomring-supervisor-" + std::to_string(::getpid()); }

}  // namespace

TEST_CASE("supervisor: ready and stopping reach a socket of a path and one of the abstract namespace") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("supervisor-" + std::to_string(::getpid()))).string();
  for (const std::string& name : {path, abstract_name()}) {
    INFO(name);
    const Ear ear(name);
    Supervisor supervisor(name);
    CHECK(supervisor.tell_ready("admin 127.0.0.1:9600").ok());
    CHECK(supervisor.tell_ready("again").ok());
    CHECK(supervisor.tell_stopping("two\nlines").ok());
    CHECK(ear.heard() == Heard{"READY=1\nSTATUS=admin 127.0.0.1:9600", "STOPPING=1\nSTATUS=two lines"});
  }
  std::filesystem::remove(path);
}

TEST_CASE("supervisor: signs of life come twice an interval, after ready, while the process is alive") {
  const Ear ear(abstract_name());
  Supervisor supervisor(abstract_name(), /*watchdog_us=*/2000);
  constexpr int64_t kHalfNs = 1'000'000;
  CHECK(supervisor.tell_alive(true, 1).ok());
  CHECK(ear.heard().empty());
  CHECK(supervisor.tell_ready("").ok());
  CHECK(ear.heard().size() == 1);
  const auto heard_at = [&](int64_t now_ns, bool alive) {
    CHECK(supervisor.tell_alive(alive, now_ns).ok());
    return ear.heard();
  };
  CHECK(heard_at(1, true) == Heard{"WATCHDOG=1"});
  CHECK(heard_at(kHalfNs, true).empty());
  CHECK(heard_at(kHalfNs + 1, true) == Heard{"WATCHDOG=1"});
  CHECK(heard_at(9 * kHalfNs, false).empty());
  CHECK(heard_at(10 * kHalfNs, true) == Heard{"WATCHDOG=1"});
}

TEST_CASE("supervisor: no signs of life where nobody waits for them") {
  const Ear ear(abstract_name());
  Supervisor supervisor(abstract_name());
  CHECK(supervisor.tell_ready("").ok());
  CHECK(supervisor.tell_alive(true, 1'000'000'000).ok());
  CHECK(ear.heard().size() == 1);
}

TEST_CASE("supervisor: what finds its queue full is told again, and READY=1 is taken before any sign of life") {
  const Ear ear(abstract_name());
  Supervisor flood(abstract_name());
  int sent = 0;
  while (flood.tell_stopping("").ok()) ++sent;  // Until the queue of the socket is full.
  Supervisor supervisor(abstract_name(), /*watchdog_us=*/2'000'000);
  CHECK(supervisor.tell_ready("").code() == Code::kRetry);
  CHECK(supervisor.tell_alive(true, 1).ok());
  CHECK(ear.heard().size() == static_cast<size_t>(sent));
  CHECK(supervisor.tell_ready("").ok());
  CHECK(ear.heard() == Heard{"READY=1\nSTATUS="});
  while (flood.tell_stopping("").ok()) continue;
  CHECK(supervisor.tell_alive(true, 1).code() == Code::kRetry);
  CHECK_FALSE(ear.heard().empty());
  CHECK(supervisor.tell_alive(true, 1).ok());
  CHECK(ear.heard() == Heard{"WATCHDOG=1"});
}

TEST_CASE("supervisor: without a socket nothing is told, and one that takes nothing is an error with its name") {
  CHECK(Supervisor("").tell_ready("").ok());
  CHECK(Supervisor("/nonexistent/notify").tell_ready("").code() == Code::kRetry);
  for (const std::string& name : {std::string("relative"), "/" + std::string(200, 'x')}) {
    const Status told = Supervisor(name).tell_stopping("");
    CHECK(told.code() == Code::kInvalid);
    CHECK_THAT(told.message(), Catch::StartsWith("NOTIFY_SOCKET is " + name + "; it must be a path"));
  }
}
