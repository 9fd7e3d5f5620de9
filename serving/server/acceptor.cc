#include "serving/server/acceptor.h"

#include <fcntl.h>
#include <grpc/support/time.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/host/addresses.h"
#include "base/host/open_files.h"

namespace bloomring {

namespace {

constexpr int kBackOffMs = 50;
constexpr int kAcceptsAtOnce = 64;  // Before it looks for the stop again.
constexpr uint64_t kReserveShare = 8;
// A sweep asks the kernel about every connection: 1 ms for 4,000 of them. So at most a tenth of the thread's time.
constexpr int64_t kSweepIntervalMs = 10;
// Of connections that wait for the number of one that gRPC is about to close; they hold a part of the reserve.
constexpr size_t kWaitingMost = 16;
constexpr int kLookMs = 5;
constexpr int64_t kPatienceMs = 2'000;
constexpr int64_t kLogIntervalMs = 10'000;

int64_t now_ms() { return gpr_time_to_millis(gpr_now(GPR_CLOCK_MONOTONIC)); }

bool is_gone_already(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENOPROTOOPT:
    case ENONET:
    case EOPNOTSUPP: return true;  // accept(2): errors of the connection, not of the listening socket.
    default: return false;
  }
}

uint64_t descriptors_for_connections() {
  const uint64_t limit = open_files_limit();
  return limit - limit / kReserveShare;
}

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::open(const std::string& listen, size_t connections_max) {
  BLOOMRING_TRY_ASSIGN(Listeners listeners, Listeners::open(listen));
  const int stop_event = ::eventfd(0, EFD_CLOEXEC);
  if (stop_event < 0) return invalid("gRPC cannot listen on " + listen + ": " + std::strerror(errno));
  return std::unique_ptr<Acceptor>(new Acceptor(std::move(listeners), stop_event, connections_max));
}

Acceptor::Acceptor(Listeners listeners, int stop_event, size_t connections_max)
    : port_(listeners.port()),
      stop_event_(stop_event),
      connections_max_(connections_max),
      listeners_(std::move(listeners)) {}

Acceptor::~Acceptor() {
  stop();
  ::close(stop_event_);
}

void Acceptor::start(Take take) {
  take_ = std::move(take);
  thread_ = std::thread([this] { run(); });
}

void Acceptor::stop() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    static_cast<void>(!::write(stop_event_, &one, sizeof one));
    thread_.join();
  }
  listeners_.close();
}

void Acceptor::run() {
  while (wait()) {
    take_waiting();
    for (const int listener : listeners_.sockets()) accept_some(listener);
  }
  for (const Waiting& left : waiting_) ::close(left.connection);
}

bool Acceptor::wait() {
  std::vector<pollfd> watched = {{stop_event_, POLLIN, 0}};
  const bool backing_off = std::exchange(backing_off_, false);
  if (!backing_off) {
    for (const int listener : listeners_.sockets()) watched.push_back({listener, POLLIN, 0});
  }
  ::poll(watched.data(), watched.size(), backing_off ? kBackOffMs : waiting_.empty() ? -1 : kLookMs);
  return watched.front().revents == 0;
}

void Acceptor::accept_some(int listener) {
  for (int i = 0; i < kAcceptsAtOnce && !backing_off_; ++i) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (connection >= 0) {
      take_or_refuse(listener, connection);
    } else if (errno == EAGAIN) {
      return;
    } else if (!is_gone_already(errno)) {
      backing_off_ = true;
      ++counters_.postponed;
    }
  }
}

void Acceptor::take_or_refuse(int listener, int connection) {
  // gRPC takes no connection whose other end has reset it already; it logs an error for each.
  const std::optional<std::string> network = network_of(connection);
  if (!network) {
    ::close(connection);
    return;
  }
  if (static_cast<uint64_t>(connection) < descriptors_for_connections()) {
    take(listener, connection, *network);
  } else {
    wait_for_number(listener, connection, *network);
  }
}

void Acceptor::take(int listener, int connection, const std::string& network) {
  if (!has_room(network)) return refuse(connection, counters_.refused_memory);
  const int yes = 1;
  ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  open_.add(connection, network);
  ++counters_.accepted;
  take_(listener, connection);
}

void Acceptor::wait_for_number(int listener, int connection, const std::string& network) {
  sweep_if_due();
  if (waiting_.size() >= kWaitingMost || !open_.make_room(network))
    return refuse(connection, counters_.refused_descriptors);
  ++counters_.ended;
  log_refusals();
  waiting_.push_back({listener, connection, network, now_ms()});
}

void Acceptor::take_waiting() {
  for (Waiting& one : std::exchange(waiting_, {})) {
    const int lower = ::fcntl(one.connection, F_DUPFD_CLOEXEC, 0);
    if (lower >= 0 && static_cast<uint64_t>(lower) < descriptors_for_connections()) {
      ::close(one.connection);
      take(one.listener, lower, one.network);
      continue;
    }
    if (lower >= 0) ::close(lower);
    if (now_ms() - one.since_ms < kPatienceMs) {
      waiting_.push_back(std::move(one));
    } else {
      refuse(one.connection, counters_.refused_descriptors);
    }
  }
}

void Acceptor::refuse(int connection, std::atomic<uint64_t>& counter) {
  ::close(connection);
  ++counter;
  log_refusals();
}

bool Acceptor::has_room(const std::string& network) {
  if (open_.count() >= connections_max_) sweep_if_due();
  if (open_.count() < connections_max_) return true;
  if (!open_.make_room(network)) return false;
  ++counters_.ended;
  log_refusals();
  return true;
}

void Acceptor::sweep_if_due() {
  const int64_t now = now_ms();
  if (now - swept_ms_ < kSweepIntervalMs) return;
  swept_ms_ = now;
  open_.sweep();
}

void Acceptor::log_refusals() {
  const int64_t now = now_ms();
  if (logged_ms_ != 0 && now - logged_ms_ < kLogIntervalMs) return;
  logged_ms_ = now;
  log_warning("connections to the gRPC port are refused, or ended for those of other hosts",
              {{"open_at_most", open_.count()},
               {"connections_max", connections_max_},
               {"open_files_max", open_files_limit()},
               {"refused_for_descriptors", counters_.refused_descriptors.load()},
               {"refused_for_memory", counters_.refused_memory.load()},
               {"ended_for_others", counters_.ended.load()}});
}

}  // namespace bloomring
