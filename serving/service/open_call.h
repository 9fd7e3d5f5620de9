// A call from its beginning until its answer was handed to gRPC: its messages and its share of the memory for them.
//
// Guarantees: the call, its messages and its context live while a Handling of it does, also when it is finished then.
// Threading: `finish` once, on any thread. The call destroys itself after that, when nobody handles it any more.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <atomic>

#include "serving/admission/call_gate.h"
#include "serving/service/open_calls.h"

namespace bloomring {

class OpenCall : public grpc::ServerUnaryReactor {
 public:
  // `answer` is gRPC's, and lives until the answer was handed to it.
  OpenCall(OpenCalls& calls, grpc::ByteBuffer& answer) : calls_(calls), counted_(calls.begin()), answer_(answer) {}
  OpenCall(const OpenCall&) = delete;

  // For as long as a function uses the call: another thread may finish it before that function has returned.
  class Handling {
   public:
    explicit Handling(OpenCall& call) : call_(call) { ++call_.uses_; }
    ~Handling() { call_.release(); }
    Handling(const Handling&) = delete;

   private:
    OpenCall& call_;
  };

  // The users whose places the call has: none before it is admitted.
  int64_t users() const { return users_; }
  void hold(int64_t users, CallMemory::Share share) {
    users_ = users;
    share_ = std::move(share);
  }
  // The call waits at the gate, which is told when the client goes. To be called before gRPC gets the call.
  void wait_at(CallGate& gate, uint64_t ticket) {
    gate_ = &gate;
    ticket_ = ticket;
  }
  // Ends the call with this status, and with the response where it is OK.
  void finish(const grpc::Status& status) {
    status_ = status;
    release();
  }

 private:
  virtual const google::protobuf::MessageLite& message() const = 0;
  // The last user hands the answer to gRPC.
  void release() {
    if (--uses_ > 0) return;
    if (!status_.ok()) return Finish(status_);
    bool own = false;
    Finish(grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(message(), &answer_, &own));
  }
  void OnCancel() override {
    if (gate_ != nullptr) gate_->cancel(ticket_);
  }
  void OnDone() override {
    if (counted_) calls_.end();
    delete this;
  }

  OpenCalls& calls_;
  const bool counted_;
  grpc::ByteBuffer& answer_;
  std::atomic<int> uses_{1};  // By each Handling, and by the end that is to come.
  grpc::Status status_;       // Once it is finished.
  CallMemory::Share share_;
  int64_t users_ = 0;
  CallGate* gate_ = nullptr;  // Where it waited.
  uint64_t ticket_ = 0;
};

template <typename Request, typename Response>
class CallOf final : public OpenCall {
 public:
  using OpenCall::OpenCall;
  Request request;
  Response response;

 private:
  const google::protobuf::MessageLite& message() const override { return response; }
};

}  // namespace bloomring
