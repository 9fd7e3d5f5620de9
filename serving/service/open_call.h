// A call from its message until its client has read the answer: its messages and its shares of the memory for them.
//
// Guarantees: the call, its messages and its context live while a Handling of it does, also when it is finished then.
// Behind that only the bytes of the answer are left of them, until the client has read these or has gone.
// Threading: `finish` once, on any thread. The call destroys itself after that, when nobody handles it any more.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <atomic>
#include <functional>
#include <utility>

#include "serving/admission/call_gate.h"
#include "serving/admission/placed_call.h"
#include "serving/service/open_calls.h"

namespace bloomring {

class OpenCall : public PlacedCall {
 public:
  using Begin = std::function<void(OpenCall&)>;
  // `begin` is called when the message has come.
  OpenCall(CallPlaces& places, grpc::CallbackServerContext& context, OpenCalls& calls, Begin begin)
      : PlacedCall(places, context), calls_(calls), begin_(std::move(begin)) {}
  using PlacedCall::context;
  using PlacedCall::message;

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
  uint64_t caller() const { return caller_; }
  void hold(int64_t users, uint64_t caller, CallMemory::Share share) {
    users_ = users;
    caller_ = caller;
    share_ = std::move(share);
  }
  // Of an answer whose size was not known when the call was admitted.
  size_t answer_bytes() const { return response_message().ByteSizeLong(); }
  void hold_answer(CallMemory::Share share) { answer_share_ = std::move(share); }
  // The call waits at the gate, which is told when the client goes, or has gone. To be called while gRPC waits for the
  // reaction to the message.
  void wait_at(CallGate& gate, uint64_t ticket) {
    ticket_ = ticket;
    gate_ = &gate;
    if (gone_) gate.cancel(ticket);
  }
  // Ends the call with this status, and with the response where it is OK.
  void finish(const grpc::Status& status) {
    status_ = status;
    release();
  }

 private:
  virtual const google::protobuf::MessageLite& response_message() const = 0;
  virtual void drop_messages() = 0;
  // The last user hands the answer to gRPC, which may end the call at once.
  void release() {
    if (--uses_ > 0) return;
    bool own = false;
    if (status_.ok()) {
      using Bytes = grpc::ProtoBufferWriter;
      status_ = grpc::GenericSerialize<Bytes, google::protobuf::MessageLite>(response_message(), &answer_, &own);
    }
    drop_messages();
    end_with(status_, &answer_);
  }
  void on_message() final {
    counted_ = calls_.begin();
    std::exchange(begin_, {})(*this);
  }
  // One of both sees the other: the call that begins to wait, or the client's going.
  void OnCancel() final {
    gone_ = true;
    if (CallGate* const gate = gate_) gate->cancel(ticket_);
  }
  void on_done() final {
    if (counted_) calls_.end();
  }

  OpenCalls& calls_;
  Begin begin_;
  bool counted_ = false;
  grpc::ByteBuffer answer_;
  std::atomic<int> uses_{1};  // By each Handling, and by the end that is to come.
  grpc::Status status_;       // Once it is finished.
  CallMemory::Share share_, answer_share_;
  int64_t users_ = 0;
  uint64_t caller_ = 0;
  std::atomic<bool> gone_{false};           // The client.
  std::atomic<CallGate*> gate_{nullptr};    // Where it waited.
  uint64_t ticket_ = 0;                     // There; written before `gate_`.
};

template <typename Request, typename Response>
class CallOf final : public OpenCall {
 public:
  using OpenCall::OpenCall;
  Request request;
  Response response;

 private:
  const google::protobuf::MessageLite& response_message() const override { return response; }
  void drop_messages() override {
    request = Request();
    response = Response();
  }
};

}  // namespace bloomring
