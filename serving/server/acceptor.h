// Accepts the connections to the gRPC port and gives them to gRPC.
//
//   open --> start --> (connections) --> stop
//
// gRPC 1.51 gives its own listening socket up at the first error of accept (CVE-2023-4785): after one burst of
// connections beyond the limit of open files the port stays deaf for ever. Hence this loop.
// Guarantees:
// - It accepts until `stop`, whatever accept returns. When the process or the system has no descriptor or no memory
//   left, it tries again every 50 ms; connections wait in the kernel's backlog meanwhile.
// - A reserve: connections never take the last eighth of the descriptors that the process may have (RLIMIT_NOFILE).
//   The kernel gives out the lowest free number, so a connection whose number lies in that eighth is closed at once, if
//   its host has as many already as any other. Else one of the host with most of them is ended for it, and it waits for
//   that one's number.
// - At most `connections_max` connections are open. A further one is closed at once, if its host has as many already as
//   any other; else one of the host with most of them is ended for it (serving/server/open_connections.h).
// Each connection that is refused or ended is counted.
// Threading: one thread of its own, which calls `take`. `start` and `stop` belong to one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "serving/server/connection_metrics.h"
#include "serving/server/listeners.h"
#include "serving/server/open_connections.h"

namespace bloomring {

class Acceptor {
 public:
  // Takes a connection over: a non-blocking socket without Nagle's delay, and the listening socket that it came from.
  using Take = std::function<void(int listener, int connection)>;

  // Listens on "host:port" (serving/server/listeners.h has the errors); until `start`, connections wait.
  static Result<std::unique_ptr<Acceptor>> open(const std::string& listen, size_t connections_max);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;

  uint16_t port() const { return port_; }
  void start(Take take);
  // Closes the listening sockets, so that nobody connects again, and returns when `take` runs no more.
  void stop();
  const ConnectionCounters& counters() const { return counters_; }

 private:
  Acceptor(Listeners listeners, int stop_event, size_t connections_max);

  void run();
  // Waits for a connection, or for a while after an error. False at the stop.
  bool wait();
  void accept_some(int listener);
  // A connection whose number lies in the reserve, until a lower one is free.
  struct Waiting {
    int listener, connection;
    std::string network;
    int64_t since_ms;
  };
  void take_or_refuse(int listener, int connection);
  // Closes it instead where the most connections are open that the memory allows.
  void take(int listener, int connection, const std::string& network);
  void wait_for_number(int listener, int connection, const std::string& network);
  void take_waiting();
  void refuse(int connection, std::atomic<uint64_t>& counter);
  bool has_room(const std::string& network);
  void sweep_if_due();
  void log_refusals();

  const uint16_t port_;
  const int stop_event_;
  const size_t connections_max_;
  Listeners listeners_;
  Take take_;
  ConnectionCounters counters_;
  OpenConnections open_;  // This and the rest: of the thread.
  bool backing_off_ = false;
  std::vector<Waiting> waiting_;
  int64_t swept_ms_ = 0;  // Of the monotonic clock.
  int64_t logged_ms_ = 0;
  std::thread thread_;
};

}  // namespace bloomring
