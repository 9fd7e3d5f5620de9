// From what a call found of a user to a GetSnapshotResponse.
#pragma once

#include <vector>

#include "schemas/bloomring.pb.h"
#include "serving/candidate_filter.h"
#include "serving/waiting_read.h"

namespace bloomring {

// Returns what is missing from the snapshot; the response says so too.
std::vector<Gap> encode_snapshot(const CandidateFilter& core, const UserKey& user_key,
                                 const WaitingRead::Outcome& outcome, v1::GetSnapshotResponse& response);

}  // namespace bloomring
