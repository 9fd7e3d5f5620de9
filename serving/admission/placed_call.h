// A call of gRPC that has a place from its headers on (call_places.h), and reads one message.
//
// gRPC's unary methods hand a call over when its message is there, so nobody could count those whose message never
// comes. A stream of bytes in both directions is handed over at its headers, and is the same on the wire.
// Guarantees: the call ends itself behind its last use by gRPC. One that finds no place is RESOURCE_EXHAUSTED.
// Threading: gRPC calls the reactions; `on_message` is called at most once.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "serving/admission/call_places.h"

namespace bloomring {

class PlacedCall : public grpc::ServerGenericBidiReactor, private CallPlaces::Call {
 public:
  PlacedCall(const PlacedCall&) = delete;

 protected:
  // Both outlive the call.
  PlacedCall(CallPlaces& places, grpc::CallbackServerContext& context);
  // A call that needs no message: it ends with this status.
  PlacedCall(CallPlaces& places, grpc::CallbackServerContext& context, const grpc::Status& status);
  ~PlacedCall() override = default;

  grpc::CallbackServerContext& context() { return context_; }
  // Ends the call with this status; with OK, `answer` goes before it and lives until the end of the call.
  void end_with(const grpc::Status& status, const grpc::ByteBuffer* answer = nullptr);
  // Once it has come.
  grpc::ByteBuffer& message() { return message_; }

 private:
  virtual void on_message() {}
  // gRPC has done with the call.
  virtual void on_done() {}

  bool entered();
  void end() final { context_.TryCancel(); }
  void OnReadDone(bool came) final;
  void OnDone() final;

  CallPlaces& places_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer message_;
};

// A call that is refused at its headers.
class RefusedCall final : public PlacedCall {
 public:
  RefusedCall(CallPlaces& places, grpc::CallbackServerContext& context, const grpc::Status& status)
      : PlacedCall(places, context, status) {}
};

}  // namespace bloomring
