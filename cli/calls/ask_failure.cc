#include "cli/calls/ask_failure.h"

#include <algorithm>
#include <array>

namespace bloomring {

namespace {

constexpr std::array kBrokenOff = {"Socket closed", "Connection reset", "Broken pipe", "handshake", "Endpoint read",
                                   "recvmsg", "failed to connect"};

constexpr const char* kOfServe = "--server must be the address that serve.listen of the service says";

std::string hint(const std::string& text, const TlsClientFiles& tls) {
  if (text.find("Connection refused") != std::string::npos) {
    return std::string("nothing listens there: ") + kOfServe;
  }
  if (text.find("Failed parsing HTTP/2") != std::string::npos || text.find("http1") != std::string::npos) {
    return std::string("another service listens there, perhaps an admin port: ") + kOfServe;
  }
  if (text.find("DNS resolution") != std::string::npos || text.find("resolution failed") != std::string::npos) {
    return "the name is not known here: correct the host of --server";
  }
  if (text.find("the log has not acknowledged") != std::string::npos ||
      text.find("the log does not answer") != std::string::npos) {
    return "the service cannot write to its brokers: see its log, and run `bloomring check` where it runs";
  }
  if (text == "Deadline Exceeded") {
    return "the service has not answered in time: it is overloaded, cannot reach its brokers, or is not there; see its "
           "/readyz and its log, or wait longer (--timeout-ms)";
  }
  if (std::none_of(kBrokenOff.begin(), kBrokenOff.end(),
                   [&](const char* words) { return text.find(words) != std::string::npos; })) {
    return "";
  }
  if (!tls.enabled()) {
    return std::string("the service may want TLS: name the authority of its certificate with --tls-ca. Or another "
                       "service listens there: ") + kOfServe;
  }
  const std::string common =
      "the service may not speak TLS (leave --tls-ca out), or its certificate may be of another authority than "
      "--tls-ca or for another host than --server";
  if (tls.certificate.empty()) return common + ", or it wants a certificate of yours (--tls-cert, --tls-key)";
  return common + ", or it does not know the authority of --tls-cert";
}

}  // namespace

std::string ask_failure(const std::string& server, const TlsClientFiles& tls, const Status& status) {
  const std::string text = server + ": " + status.message(), why = hint(status.message(), tls);
  return status.code() == Code::kBadRecord || why.empty() ? text : text + "; " + why;
}

}  // namespace bloomring
