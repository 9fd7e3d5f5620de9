// Between what the client library's callers see and the messages of schemas/bloomring.proto.
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "client/client.h"
#include "schemas/bloomring.pb.h"

namespace bloomring {

// Packed, where they can be; what cannot be packed goes as text, for the service to refuse it with its reason.
void pack(const std::vector<std::string>& items, v1::Ids& ids);
v1::FilterRequest to_request(const FilterCall& call);
// kCorrupt when the answer is for another number of items.
Result<FilterReply> to_reply(const v1::FilterResponse& response, size_t items);
// What failing open answers: nothing is seen, nothing is complete, and why.
FilterReply open_reply(size_t items, Status error);
// The reaction that a gRPC status asks for (client/client.h).
Status from_grpc(const grpc::Status& status);

}  // namespace bloomring
