// Converts between the messages of schemas/bloomring/v1/bloomring.proto and the query core: limits, hashing, bit sets.
//
// Ids are validated and hashed in one pass, without an allocation for each.
// Errors: decoding refuses with kBadRecord. The message names the field, the value found and the limit, and goes
// unchanged into INVALID_ARGUMENT.
// Threading: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "bloomring/v1/bloomring.pb.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/known_scenes.h"
#include "state/period.h"

namespace bloomring {

struct RequestLimits {
  size_t candidates_max = 20'000;  // Ids in one request.
  size_t client_seen_max = 20'000;
  size_t served_items_max = 1'000;  // In one RecordServed.
  size_t batch_max = 200;           // Requests in one FilterBatch.
  // In one FilterBatch: candidates of all its requests together, and also `client_seen` of all. At least the limit of
  // one request.
  size_t batch_ids_max = 200'000;
  SceneRules scenes = {};
  size_t message_bytes_max = 8 << 20;  // 20,000 candidates and 20,000 of `client_seen` with 128 bytes each fit.
};

// A decoded request; owns the data that the question borrows.
struct DecodedFilter {
  UserKey user_key;
  std::vector<ItemHash> ids;
  std::vector<uint32_t> ids_per_candidate;
  std::vector<ItemHash> client_seen;
  size_t min_keep = 0;

  size_t candidates() const { return ids_per_candidate.empty() ? ids.size() : ids_per_candidate.size(); }
  FilterQuestion question() const& BLOOMRING_LIFETIMEBOUND { return question(user_key); }
  FilterQuestion question() && = delete;
  // The question about this user key, which must live as long as the question.
  FilterQuestion question(const UserKey& of) const& BLOOMRING_LIFETIMEBOUND {
    return {of.bytes(), ids, ids_per_candidate, client_seen, min_keep};
  }
  FilterQuestion question(const UserKey& of) && = delete;
};

size_t id_count(const v1::Ids& ids);
// `field` names the list in messages: "candidates".
Result<std::vector<ItemHash>> hash_ids(const v1::Ids& ids, std::string_view field, size_t ids_max);
// kBadRecord when the scene is not a declared one, or is bloomring's own.
Result<UserKey> decode_user(std::string_view user, std::string_view scene, const SceneRules& rules = {});
// The rules for the parts of a call about all scenes, which may name a stored scene that is no longer declared.
const SceneRules& any_scene(const SceneRules& rules);
// The item to forget, or nothing for everything.
Result<std::optional<ItemHash>> decode_forgotten_item(const v1::ForgetRequest& request);
Result<DecodedFilter> decode(const v1::FilterRequest& request, const RequestLimits& limits);
// Checks the limits of a batch as a whole; `decode` checks those of each request.
Status check(const v1::FilterBatchRequest& batch, const RequestLimits& limits);
// Both before a message is parsed: the number of requests in a batch, and what the message takes (message_cost.h).
Status check_request_count(size_t requests, const RequestLimits& limits);
Status check_cost(size_t bytes, size_t bytes_max);
// To be called after the checks of the fields, whose messages say more precisely what is too large.
Status check_bytes(const google::protobuf::Message& message, const RequestLimits& limits);

void encode(const FilterAnswer& answer, const Calendar& calendar, v1::ExplainLevel explain,
            v1::FilterResponse& response);
v1::Gap encode(const Gap& gap);

}  // namespace bloomring
