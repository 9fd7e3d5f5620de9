// From what a call found of a user to a GetSnapshotResponse.
#pragma once

#include <vector>

#include "schemas/bloomring.pb.h"
#include "serving/query/candidate_filter.h"
#include "serving/service/waiting_read.h"

namespace bloomring {

// The most recent plays of a user with very many of them that a snapshot holds: some 600 KB. Where there are more, the
// snapshot is not complete, and says so.
inline constexpr size_t kSnapshotPlaysMax = 65'536;

// Returns what is missing from the snapshot; the response says so too.
std::vector<Gap> encode_snapshot(const CandidateFilter& core, const UserKey& user_key,
                                 const WaitingRead::Outcome& outcome, v1::GetSnapshotResponse& response);

}  // namespace bloomring
