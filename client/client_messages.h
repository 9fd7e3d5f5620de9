// Converts between the types of the client library and the messages of schemas/bloomring/v1/bloomring.proto.
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "client/filter_call.h"
#include "bloomring/v1/bloomring.pb.h"

namespace bloomring {

// Packs the items. If they cannot be packed, it sends them as text, so that the service refuses them with its reason.
void pack(const std::vector<std::string>& items, v1::Ids& ids);
v1::FilterRequest to_request(const FilterCall& call);
// kCorrupt when the answer is for another number of items.
Result<FilterReply> to_reply(const v1::FilterResponse& response, size_t items);
// The reply of failing open: every item unseen, incomplete, with the error.
FilterReply open_reply(size_t items, Status error);
// The reaction that a gRPC status asks for (client/client.h).
Status from_grpc(const grpc::Status& status);

}  // namespace bloomring
