// Questions that several calls of the service ask of their requests. Included by sources of this folder only.
#pragma once

#include <grpcpp/grpcpp.h>

#include "bloomring/v1/bloomring.pb.h"
#include "serving/service/request_codec.h"

namespace bloomring {

// Uses the clock of the deadline.
inline bool has_passed(gpr_timespec deadline) { return gpr_time_cmp(deadline, gpr_now(deadline.clock_type)) < 0; }

inline bool is_over(const grpc::CallbackServerContext& context) {
  return context.IsCancelled() || has_passed(context.raw_deadline());
}

template <typename Request>
const SceneRules& rules_for(const Request&, const RequestLimits& limits) {
  return limits.scenes;
}

inline const SceneRules& rules_for(const v1::ForgetRequest& request, const RequestLimits& limits) {
  return request.all_scenes() ? any_scene(limits.scenes) : limits.scenes;
}

// The user of a request whose other fields are valid.
template <typename Request>
Result<UserKey> user_of(const Request& request, const RequestLimits& limits) {
  BLOOMRING_TRY_ASSIGN(UserKey user_key, decode_user(request.user(), request.scene(), rules_for(request, limits)));
  BLOOMRING_TRY(check_bytes(request, limits));
  return user_key;
}

}  // namespace bloomring
