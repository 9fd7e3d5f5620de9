#include "base/host/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/words.h"

namespace bloomring {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// 0 for anything else.
uint64_t number_in(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

Supervisor::Supervisor(std::string socket, uint64_t watchdog_us)
    : socket_(std::move(socket)), interval_ns_(static_cast<int64_t>(watchdog_us / 2 * 1000)) {}

Supervisor Supervisor::of_environment() {
  const std::string pid = variable("WATCHDOG_PID");
  const bool ours = pid.empty() || number_in(pid) == static_cast<uint64_t>(::getpid());
  return Supervisor(variable("NOTIFY_SOCKET"), ours ? number_in(variable("WATCHDOG_USEC")) : 0);
}

Status Supervisor::tell_ready(std::string_view status) {
  if (ready_) return {};
  BLOOMRING_TRY(send("READY=1\nSTATUS=" + one_line(status)));
  ready_ = true;
  return {};
}

Status Supervisor::tell_stopping(std::string_view status) { return send("STOPPING=1\nSTATUS=" + one_line(status)); }

Status Supervisor::tell_alive(bool alive, int64_t now_ns) {
  if (!ready_ || !alive || interval_ns_ == 0 || (told_ns_ != 0 && now_ns - told_ns_ < interval_ns_)) return {};
  BLOOMRING_TRY(send("WATCHDOG=1"));
  told_ns_ = now_ns;
  return {};
}

Status Supervisor::send(const std::string& lines) const {
  if (socket_.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((socket_[0] != '/' && socket_[0] != '@') || socket_.size() >= sizeof address.sun_path) {
    return invalid("NOTIFY_SOCKET is " + socket_ + "; it must be a path, or a name behind @, of less than " +
                   std::to_string(sizeof address.sun_path) + " characters");
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const int file = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool sent =
      file >= 0 && ::sendto(file, lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                            reinterpret_cast<const sockaddr*>(&address), size) == static_cast<ssize_t>(lines.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  return sent ? Status() : retry("the supervisor at " + socket_ + " takes nothing: " + std::strerror(error));
}

}  // namespace bloomring
