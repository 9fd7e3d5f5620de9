#include "serving/server/port_probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/config/listen_address.h"
#include "base/host/addresses.h"

namespace bloomring {

namespace {

using namespace std::string_view_literals;

// The preface of HTTP/2 with empty SETTINGS (RFC 9113, 3.4).
constexpr std::string_view kGreeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"sv;

// A ClientHello of TLS 1.2 (RFC 5246, 7.4.1.2), which servers of TLS 1.3 answer, too.
constexpr std::string_view kClientHello =
    "\x16\x03\x01\x00\x64"                      // A handshake record of 100 bytes:
    "\x01\x00\x00\x60\x03\x03"                  // ClientHello of 96 bytes, TLS 1.2.
    "bloomring asks its own port, now"          // Random: 32 bytes; nothing is encrypted with them.
    "\x00"                                      // No session.
    "\x00\x08\xc0\x2b\xc0\x2f\xc0\x2c\xc0\x30"  // ECDHE with ECDSA or RSA, AES-GCM.
    "\x01\x00"                                  // No compression.
    "\x00\x2f"                                  // Extensions of 47 bytes:
    "\x00\x0a\x00\x06\x00\x04\x00\x1d\x00\x17"  // X25519 and P-256,
    "\x00\x0b\x00\x02\x01\x00"                  // uncompressed points,
    "\x00\x0d\x00\x0e\x00\x0c\x04\x03\x08\x04\x04\x01\x05\x03\x08\x05\x05\x01"  // signatures,
    "\x00\x10\x00\x05\x00\x03\x02h2"            // ALPN h2,
    "\x00\x23\x00\x00"sv;                       // and tickets.
static_assert(kClientHello.size() == 5 + 100);
static_assert(kGreeting.size() == 33);

class Socket {
 public:
  explicit Socket(int family) : fd_(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  Socket(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }
  bool wait_for(short events, int64_t patience_ms) const {
    pollfd watched{fd_, events, 0};
    return ::poll(&watched, 1, static_cast<int>(patience_ms)) > 0;
  }

 private:
  const int fd_;
};

Status failed(const std::string& address, const std::string& why) {
  return retry("the gRPC port " + address + " " + why);
}

}  // namespace

Status probe_port(const std::string& address, bool tls, int64_t patience_ms) {
  BLOOMRING_TRY_ASSIGN(const ListenAddress listens, parse_listen_address(address));
  const ListenAddress asked = listens.reachable();
  const auto found = resolve(asked.host, asked.port, AddressUse::kConnect);
  if (!found.ok()) return failed(address, "has an unknown host: " + found.status().message());
  const addrinfo& first = **found;
  const Socket socket(first.ai_family);
  if (socket.fd() < 0) return failed(address, std::string("could not be asked: ") + std::strerror(errno));
  const bool connected = ::connect(socket.fd(), first.ai_addr, first.ai_addrlen) == 0;
  if (!connected && errno != EINPROGRESS)
    return failed(address, std::string("takes no connection: ") + std::strerror(errno));
  if (!socket.wait_for(POLLOUT, patience_ms)) return failed(address, "takes no connection");
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return failed(address, std::string("takes no connection: ") + std::strerror(error));
  const std::string_view hello = tls ? kClientHello : kGreeting;
  static_cast<void>(::send(socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL));  // Refused: it is heard below.
  if (!socket.wait_for(POLLIN, patience_ms)) return failed(address, "takes connections but answers none");
  return {};
}

}  // namespace bloomring
