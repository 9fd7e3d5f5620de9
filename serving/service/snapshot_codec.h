// Makes a GetSnapshotResponse from the result of a user's lookup and read.
#pragma once

#include <vector>

#include "bloomring/v1/bloomring.pb.h"
#include "serving/query/candidate_filter.h"
#include "serving/service/waiting_read.h"

namespace bloomring {

// The most recent plays in the snapshot of a user with very many of them: about 600 KB. With more, the snapshot is
// incomplete, and says so.
inline constexpr size_t kSnapshotPlaysMax = 65'536;

// Returns the gaps of the snapshot, which the response has, too.
std::vector<Gap> encode_snapshot(const CandidateFilter& core, const UserKey& user_key,
                                 const WaitingRead::Outcome& outcome, v1::GetSnapshotResponse& response);

}  // namespace bloomring
