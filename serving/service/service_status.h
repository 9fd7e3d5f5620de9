// Maps statuses of the service to gRPC's (schemas/bloomring/v1/bloomring.proto has the list).
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include "base/result.h"
#include "serving/query/public_reason.h"

namespace bloomring {

inline grpc::Status to_grpc(const Status& status) {
  switch (status.code()) {
    case Code::kOk: return grpc::Status::OK;
    case Code::kRetry: return {grpc::StatusCode::UNAVAILABLE, status.message()};
    case Code::kBadRecord: return {grpc::StatusCode::INVALID_ARGUMENT, status.message()};
    default: return {grpc::StatusCode::INTERNAL, "the call " + public_reason(status)};
  }
}

}  // namespace bloomring
