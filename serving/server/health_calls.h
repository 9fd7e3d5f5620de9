// The calls of gRPC's standard health service: Check and Watch (schemas/grpc/health/v1/health.proto).
//
// gRPC's own answers a call when its message is there, and so counts none whose message never comes
// (serving/admission/placed_call.h).
// Guarantees: the server as a whole and each service have one status. Watch tells it at once and again at each change;
// where it changes while an answer is under way, the last status is told.
// Threading: thread safe. It outlives its calls.
#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <list>
#include <mutex>
#include <string>

#include "serving/admission/call_places.h"

namespace bloomring {

class HealthCalls {
 public:
  // `service`: the name of the one service of the server. Neither serves yet.
  HealthCalls(CallPlaces& places, std::string service) : places_(places), service_(std::move(service)) {}

  static constexpr const char* kName = "grpc.health.v1.Health";

  void set_serving(bool serving);
  // From now on NOT_SERVING, whatever is set.
  void end();
  // The call that gRPC hands over at its headers; null where its method is none of the health service.
  grpc::ServerGenericBidiReactor* open(grpc::GenericCallbackServerContext& context);

 private:
  class Check;
  class Watch;
  bool knows(const std::string& service) const { return service.empty() || service == service_; }
  bool serving();
  void tell_all();

  CallPlaces& places_;
  const std::string service_;
  std::mutex mutex_;  // Guards the rest.
  bool serving_ = false;
  bool ended_ = false;
  std::list<Watch*> watches_;  // Those that wait for a change.
};

}  // namespace bloomring
