// Bounds the memory that a request takes, from its bytes and before anything is made of them.
//
// Two bytes of a message can become a hundred bytes of objects: an empty request of a batch, an empty id, a field that
// nobody knows. So the walk goes over the tags of a message, down to its lists of ids, and adds up what protobuf
// allocates for each field, the parts that the service makes of each id, and its answer's bytes. It reads no content:
// a field of integers or of packed ids costs one step.
// Guarantees: the bound is never below what the parsed message takes, also for unknown fields, groups, fields that
// come twice, and lists in both encodings. The walk itself allocates nothing.
// Errors: kBadRecord when the bytes are no message of protobuf.
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstddef>

#include "base/result.h"
#include "bloomring/v1/bloomring.pb.h"

namespace bloomring {

struct MessageCost {
  size_t bytes = 0;     // Of the parsed message, the work on it, and its answer.
  size_t requests = 0;  // Of a batch.
};

// The refusal of bytes that are no message of this type.
Status no_message(const google::protobuf::Descriptor& type);

// `requests_max`: requests of a batch beyond these are only counted, for they are not parsed.
template <typename Request>
Result<MessageCost> message_cost(grpc::ByteBuffer& message, size_t requests_max);

extern template Result<MessageCost> message_cost<v1::FilterRequest>(grpc::ByteBuffer&, size_t);
extern template Result<MessageCost> message_cost<v1::FilterBatchRequest>(grpc::ByteBuffer&, size_t);
extern template Result<MessageCost> message_cost<v1::RecordServedRequest>(grpc::ByteBuffer&, size_t);
extern template Result<MessageCost> message_cost<v1::GetSnapshotRequest>(grpc::ByteBuffer&, size_t);
extern template Result<MessageCost> message_cost<v1::ForgetRequest>(grpc::ByteBuffer&, size_t);

}  // namespace bloomring
