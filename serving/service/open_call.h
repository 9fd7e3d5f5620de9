// A call from its beginning until its answer was handed to gRPC: its messages and its share of the memory for them.
//
// Threading: `finish` once, on any thread. The call destroys itself after that.
#pragma once

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include "serving/admission/call_memory.h"
#include "serving/service/open_calls.h"

namespace bloomring {

class OpenCall : public grpc::ServerUnaryReactor {
 public:
  // `answer` is gRPC's, and lives until the answer was handed to it.
  OpenCall(OpenCalls& calls, grpc::ByteBuffer& answer) : calls_(calls), counted_(calls.begin()), answer_(answer) {}
  OpenCall(const OpenCall&) = delete;

  // The users whom the call is about, as the service counts them: a batch has many.
  int64_t users() const { return users_; }
  void add_users(int64_t more) { users_ += more; }
  void hold(CallMemory::Share share) { share_ = std::move(share); }
  // Ends the call with this status, and with the response where it is OK.
  void finish(const grpc::Status& status) {
    if (!status.ok()) return Finish(status);
    bool own = false;
    Finish(grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::MessageLite>(message(), &answer_, &own));
  }

 private:
  virtual const google::protobuf::MessageLite& message() const = 0;
  void OnDone() override {
    if (counted_) calls_.end();
    delete this;
  }

  OpenCalls& calls_;
  const bool counted_;
  grpc::ByteBuffer& answer_;
  CallMemory::Share share_;
  int64_t users_ = 1;
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
