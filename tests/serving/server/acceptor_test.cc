#include "serving/server/acceptor.h"

#include <fcntl.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/instrumented.h"
#include "tests/support/open_files_bound.h"
#include "tests/support/tcp_client.h"

using namespace bloomring;

namespace {

constexpr size_t kMany = 1'000;

void wait_for(const std::string& what, const std::function<bool()>& met) {
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, what, [&]() -> Result<bool> { return met(); }).ok());
}

// An acceptor whose connections are held.
struct Door {
  explicit Door(size_t connections_max = kMany) : acceptor(Acceptor::open("127.0.0.1:0", connections_max).value()) {}
  ~Door() {
    acceptor->stop();
    close_all();
  }
  void start() {
    acceptor->start([this](int, int connection) {
      const std::lock_guard lock(mutex);
      held.push_back(connection);
    });
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor->port()); }
  std::vector<int> all() {
    const std::lock_guard lock(mutex);
    return held;
  }
  void close_all() {
    const std::lock_guard lock(mutex);
    for (const int connection : std::exchange(held, {})) ::close(connection);
  }
  // As gRPC does with connections that are hung up.
  void close_ended() {
    const std::lock_guard lock(mutex);
    std::erase_if(held, [](int connection) {
      char byte = 0;
      if (::recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 0) return false;
      ::close(connection);
      return true;
    });
  }
  uint64_t taken() const { return acceptor->counters().accepted; }

  std::unique_ptr<Acceptor> acceptor;
  std::mutex mutex;
  std::vector<int> held;
};

}  // namespace

TEST_CASE("acceptor: a connection that came before the start is taken, one after the stop finds nobody") {
  Door door;
  const TcpClient early(door.address());
  door.start();
  const TcpClient late(door.address());
  wait_for("both to be taken", [&] { return door.taken() == 2; });
  for (const int connection : door.all()) CHECK((::fcntl(connection, F_GETFL) & O_NONBLOCK) != 0);
  door.acceptor->stop();
  CHECK_FALSE(TcpClient().reaches(door.address()));
}

TEST_CASE("acceptor: a connection beyond the bound is closed at once and counted, and those that end make room") {
  Door door(2);
  door.start();
  const TcpClient first(door.address()), second(door.address());
  wait_for("two to be taken", [&] { return door.taken() == 2; });
  const TcpClient third(door.address());
  wait_for("the third to be closed", [&] { return third.dropped(); });
  CHECK(door.acceptor->counters().refused_memory == 1);
  door.close_all();
  wait_for("another to be taken", [&] {
    const TcpClient next(door.address());
    return door.taken() == 3;
  });
  CHECK(door.acceptor->counters().refused_descriptors == 0);
}

TEST_CASE(
    "acceptor: a host that holds all connections keeps no other one out, and loses its newest ones until both have "
    "half") {
  Door door(4);
  door.start();
  std::vector<TcpClient> greedy;
  for (int i = 0; i < 4; ++i) greedy.emplace_back(door.address(), "127.0.0.2");
  wait_for("all to be taken", [&] { return door.taken() == 4; });
  std::vector<TcpClient> modest;
  for (int i = 0; i < 2; ++i) {
    modest.emplace_back(door.address());
    wait_for("it to be taken", [&] { return door.taken() == 5u + i; });
  }
  wait_for("the newest ones to be ended", [&] { return greedy[2].dropped() && greedy[3].dropped(); });
  const TcpClient third(door.address());
  wait_for("the third to be closed", [&] { return third.dropped(); });
  for (const TcpClient* client : {&greedy[0], &greedy[1], &modest[0], &modest[1]}) CHECK_FALSE(client->dropped());
  CHECK(door.acceptor->counters().ended == 2);
  CHECK(door.acceptor->counters().refused_memory == 1);
}

TEST_CASE("acceptor: connections leave the last eighth of the descriptors to the rest of the process") {
  constexpr int kFiles = 256;
  const OpenFilesBound few(kFiles);
  Door door;
  door.start();
  std::vector<TcpClient> clients;
  wait_for("one to be closed", [&] {
    clients.emplace_back(door.address());
    return std::ranges::any_of(clients, [](const TcpClient& client) { return client.dropped(); });
  });
  CHECK(door.acceptor->counters().refused_descriptors > 0);
  CHECK(door.acceptor->counters().refused_memory == 0);
  for (const int connection : door.all()) CHECK(connection < kFiles / 8 * 7);
  // A client holds a number for each that the door holds.
  CHECK(door.taken() > kFiles / 4);
}

TEST_CASE("acceptor: a host that holds all descriptors keeps no other one out, and the reserve stays") {
  constexpr int kFiles = 256;
  const OpenFilesBound few(kFiles);
  Door door;
  door.start();
  std::vector<TcpClient> greedy;
  wait_for("one to be closed", [&] {
    greedy.emplace_back(door.address(), "127.0.0.2");
    return door.acceptor->counters().refused_descriptors > 0;
  });
  const uint64_t before = door.taken();
  for (int i = 1; i <= 3; ++i) {
    const TcpClient modest(door.address());
    wait_for("it to be taken", [&] {
      door.close_ended();
      return door.taken() == before + i;
    });
    CHECK_FALSE(modest.dropped());
  }
  CHECK(door.acceptor->counters().ended == 3);
  for (const int connection : door.all()) CHECK(connection < kFiles / 8 * 7);
}

TEST_CASE("acceptor: where no descriptor is left a connection waits, and is taken when there is one") {
  if (kInstrumented) return;  // UBSan looks at objects through a pipe, for which no descriptor would be left.
  const OpenFilesBound few(256);
  Door door;
  const TcpClient client;
  std::vector<int> fill;
  for (int file = 0; (file = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) fill.push_back(file);
  door.start();
  const bool reached = client.reaches(door.address());
  const SystemClock clock;
  const bool postponed = wait_until(clock, 60'000, "accept to fail", [&]() -> Result<bool> {
                           return door.acceptor->counters().postponed > 1;
                         }).ok();
  const uint64_t before = door.taken();
  for (const int file : fill) ::close(file);
  CHECK(reached);
  CHECK(postponed);
  CHECK(before == 0);
  wait_for("the connection to be taken", [&] { return door.taken() == 1; });
  CHECK_FALSE(client.dropped());
}
