// Where calls reach the port: each is handed over at its headers, takes a place, and goes to its service by its method.
//
// A call of a method that no service has is UNIMPLEMENTED, and has a place until its client has read that.
// Threading: thread safe; gRPC calls `CreateReactor`.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include "serving/admission/placed_call.h"
#include "serving/server/health_calls.h"
#include "serving/service/filter_service.h"

namespace bloomring {

class CallDoor final : public grpc::CallbackGenericService {
 public:
  // All outlive the door.
  CallDoor(CallPlaces& places, FilterService& service, HealthCalls& health)
      : places_(places), service_(service), health_(health) {}

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    if (auto* const call = service_.open(*context)) return call;
    if (auto* const call = health_.open(*context)) return call;
    return new RefusedCall(places_, *context, {grpc::StatusCode::UNIMPLEMENTED, ""});
  }

  CallPlaces& places_;
  FilterService& service_;
  HealthCalls& health_;
};

}  // namespace bloomring
