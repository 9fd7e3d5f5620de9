// An endpoint for copies of live queries: it speaks Filter and FilterBatch of bloomring.v1.BloomringService, hands each
// query to `take`, and answers at once.
//
//   start --> (copies: Envoy's request mirroring, or a second call of the site's own) --> stop
//
// Guarantees: no answer can be mistaken for one of the service. Every candidate is unseen, the answer is incomplete and
// says why, and a strict call is FAILED_PRECONDITION. Calls that write are UNIMPLEMENTED.
// Memory: memory_bytes_max of messages in transit, and what `take` keeps.
// Errors: kInvalid when it cannot listen or a file of `tls` is wrong. A call that is no query is INVALID_ARGUMENT.
// Threading: gRPC's threads call `take` and `refused`, several at a time; neither may wait.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/filter_call.h"
#include "client/tls_files.h"
#include "serving/server/acceptor.h"
#include "serving/service/request_codec.h"

namespace bloomring {

struct MirrorServerConfig {
  std::string listen = "127.0.0.1:0";  // "host:port"; with port 0 the system chooses one.
  TlsServerFiles tls = {};
  RequestLimits limits = {};
  size_t memory_bytes_max = 64 << 20;
  size_t connections_max = 1'000;
  std::function<void(FilterCall)> take;
  std::function<void()> refused;
};

class MirrorServer {
 public:
  static Result<std::unique_ptr<MirrorServer>> start(MirrorServerConfig config);
  ~MirrorServer();

  // "host:port" with the port that was chosen.
  const std::string& address() const { return address_; }
  // Refuses new calls. After it, `take` is not called.
  void stop();

 private:
  class Service;
  explicit MirrorServer(MirrorServerConfig config);
  Status listen();

  const MirrorServerConfig config_;
  std::string address_;
  bool stopped_ = false;
  std::unique_ptr<Service> service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<Acceptor> acceptor_;  // Its thread uses the rest.
};

}  // namespace bloomring
