// The connections of one client, one for each server it was given, and the order in which a call tries them.
//
// A call goes to one of the connected servers, in turn. On UNAVAILABLE it is retried: at once at the next server, or
// after a pause when every server was tried. A call makes at most `attempts_max` attempts, and none begins after the
// deadline. Every other status is final.
//
// Threading: thread safe.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "client/client_options.h"
#include "bloomring/v1/bloomring.grpc.pb.h"

namespace bloomring {

class ClientConnections {
 public:
  using Stub = v1::BloomringService::Stub;
  // One attempt.
  using Ask = std::function<grpc::Status(Stub&, grpc::ClientContext&)>;

  explicit ClientConnections(const ClientOptions& options);

  // The status of the last attempt. When the deadline ended it, the message also has the answer of the one before: the
  // last thing that a server has said.
  grpc::Status call(int64_t deadline_ms, const Ask& ask);

 private:
  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<Stub> stub;
  };
  // The best connection that was not asked yet, starting with the one whose turn it is.
  size_t choose(size_t turn, const std::vector<bool>& asked) const;
  // False when the pause would end after the deadline. It ends early when the connection changes its state, because
  // the server may be back.
  bool pause(const Connection& connection, int attempt, gpr_timespec deadline) const;

  const RetryOptions retry_;
  std::vector<Connection> connections_;
  std::atomic<size_t> turn_{0};
};

}  // namespace bloomring
