// One answer about all scenes of a user, made of the answers about each: seen in any is seen.
//
// The reason of a candidate is the first of its reasons in all scenes, and of filters the newest period. A part that
// failed is a gap; when all have, so has the call. Error probabilities add up.
// Thread safety: pure functions on values.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "schemas/bloomring.pb.h"

namespace bloomring {

// The question about one scene, and what came of it.
struct ScenePart {
  v1::FilterRequest request;  // With EXPLAIN_CODES.
  v1::FilterResponse response;
  grpc::Status status;
};

// `missing`: why there may be scenes that were not asked; empty when there are none. The status of the call: that of
// the first part where all of them failed, FAILED_PRECONDITION for an incomplete answer to a strict request.
grpc::Status unite_scenes(const v1::FilterRequest& request, size_t candidates, const std::vector<ScenePart>& parts,
                          const std::string& missing, v1::FilterResponse& response);

// Of the calls about each scene: the first that failed.
grpc::Status first_failure(const std::vector<grpc::Status>& statuses);

}  // namespace bloomring
