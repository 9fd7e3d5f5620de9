// Unites the answers about each scene of a user into one: an item seen in any scene is seen.
//
// The reason of a candidate is the first of its reasons in all scenes, for filters with the newest period. A part that
// failed is a gap; when all parts failed, the call fails. Error probabilities add up.
// Threading: pure functions on values.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "bloomring/v1/bloomring.pb.h"

namespace bloomring {

// The question about one scene, and its outcome.
struct ScenePart {
  v1::FilterRequest request;  // With EXPLAIN_CODES.
  v1::FilterResponse response;
  grpc::Status status;
};

// `missing`: why there may be scenes that were not asked; empty when all were asked. Returns the status of the call:
// the first part's when all parts failed, FAILED_PRECONDITION for an incomplete answer to a strict request.
grpc::Status unite_scenes(const v1::FilterRequest& request, size_t candidates, const std::vector<ScenePart>& parts,
                          const std::string& missing, v1::FilterResponse& response);

// The first failed status; OK without one.
grpc::Status first_failure(const std::vector<grpc::Status>& statuses);

}  // namespace bloomring
