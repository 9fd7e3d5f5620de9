#include "serving/admission/message_cost.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <span>

namespace bloomring {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using Wire = WireFormatLite::WireType;

// An array that grows by doubling takes twice its final size at most, and half of that again while it is copied.
constexpr size_t kGrowth = 3;
constexpr size_t kPointer = kGrowth * sizeof(void*);
// A block of the allocator: its head, and rounding to 16 bytes.
constexpr size_t block(size_t bytes) { return (bytes + 8 + 15) / 16 * 16; }
constexpr size_t kString = block(sizeof(std::string));
// Short strings lie in the object. Twice: a string that comes in pieces grows, too.
constexpr size_t characters(size_t bytes) { return bytes < sizeof(std::string) / 2 ? 0 : block(2 * bytes); }
// An unknown field: its entry in a list, and the string or the list of fields that it holds.
constexpr size_t kUnknownField = kGrowth * 2 * sizeof(void*) + kString;
constexpr size_t kUnknownGroup = kUnknownField + block(sizeof(std::vector<int>)) + block(2 * sizeof(void*));
// The service makes this of an id: its hash, and its finding in a list that grows.
constexpr size_t kIdWork = sizeof(uint64_t) + kGrowth * sizeof(uint64_t);
// With EXPLAIN_LEVEL_VERDICTS, of a candidate: an object with the name of a period, and its bytes in the answer.
constexpr size_t kVerdict = block(sizeof(v1::Verdict)) + kPointer + kString + 24;
// An answer without its lists of candidates: periods, gaps, and names.
constexpr size_t kAnswer = 2'048;

enum class Kind : uint8_t {
  kScalar,       // One value of the object itself.
  kCharacters,   // One string or bytes.
  kTexts,        // A list of ids.
  kLengths,      // Bytes: one for each id.
  kVarints,      // A list of varints of 32 bits, mostly packed.
  kFixed64s,     // A list of ids of 8 bytes, mostly packed.
  kExplain,      // The level of explanation.
  kMessage,      // One object.
  kRequests,     // A list of objects, each a request with an answer of its own.
};

struct MessageShape;

struct Field {
  uint32_t number;
  Kind kind;
  const MessageShape* shape = nullptr;  // Of kMessage and kRequests.
};

struct MessageShape {
  size_t object;  // Bytes of the object alone.
  std::span<const Field> fields;
};

constexpr Field kPackedFields[] = {{1, Kind::kCharacters}, {2, Kind::kLengths}};
constexpr MessageShape kPacked{block(sizeof(v1::PackedIds)) + 2 * kString, kPackedFields};

constexpr Field kIdsFields[] = {{1, Kind::kTexts}, {2, Kind::kFixed64s}, {3, Kind::kMessage, &kPacked}};
constexpr MessageShape kIds{block(sizeof(v1::Ids)), kIdsFields};

constexpr Field kFilterFields[] = {
    {1, Kind::kCharacters}, {2, Kind::kCharacters}, {3, Kind::kMessage, &kIds}, {4, Kind::kVarints},
    {5, Kind::kMessage, &kIds}, {6, Kind::kScalar}, {7, Kind::kScalar}, {8, Kind::kExplain},
    {9, Kind::kScalar}, {10, Kind::kScalar}};
constexpr MessageShape kFilter{block(sizeof(v1::FilterRequest)) + 2 * kString, kFilterFields};

constexpr Field kBatchFields[] = {{1, Kind::kRequests, &kFilter}};
constexpr MessageShape kBatch{block(sizeof(v1::FilterBatchRequest)), kBatchFields};

constexpr Field kServedFields[] = {
    {1, Kind::kCharacters}, {2, Kind::kCharacters}, {3, Kind::kMessage, &kIds}, {4, Kind::kScalar}};
constexpr MessageShape kServed{block(sizeof(v1::RecordServedRequest)) + 2 * kString, kServedFields};

constexpr Field kSnapshotFields[] = {
    {1, Kind::kCharacters}, {2, Kind::kCharacters}, {3, Kind::kScalar}, {4, Kind::kScalar}};
constexpr MessageShape kSnapshot{block(sizeof(v1::GetSnapshotRequest)) + 2 * kString, kSnapshotFields};

constexpr Field kForgetFields[] = {{1, Kind::kCharacters}, {2, Kind::kCharacters}, {3, Kind::kCharacters},
                                   {4, Kind::kScalar},     {5, Kind::kScalar},     {6, Kind::kScalar}};
constexpr MessageShape kForget{block(sizeof(v1::ForgetRequest)) + 3 * kString, kForgetFields};

const MessageShape& shape(const v1::FilterRequest*) { return kFilter; }
const MessageShape& shape(const v1::FilterBatchRequest*) { return kBatch; }
const MessageShape& shape(const v1::RecordServedRequest*) { return kServed; }
const MessageShape& shape(const v1::GetSnapshotRequest*) { return kSnapshot; }
const MessageShape& shape(const v1::ForgetRequest*) { return kForget; }

const Field kUnknown{0, Kind::kScalar};

// The field with this number if it comes as this type, which protobuf else keeps as an unknown one.
const Field& find(const MessageShape& of, uint32_t number, Wire wire) {
  const auto found = std::ranges::find(of.fields, number, &Field::number);
  if (found == of.fields.end()) return kUnknown;
  switch (found->kind) {
    case Kind::kScalar:
    case Kind::kExplain: return wire == Wire::WIRETYPE_VARINT ? *found : kUnknown;
    case Kind::kVarints:
      return wire == Wire::WIRETYPE_VARINT || wire == Wire::WIRETYPE_LENGTH_DELIMITED ? *found : kUnknown;
    case Kind::kFixed64s:
      return wire == Wire::WIRETYPE_FIXED64 || wire == Wire::WIRETYPE_LENGTH_DELIMITED ? *found : kUnknown;
    default: return wire == Wire::WIRETYPE_LENGTH_DELIMITED ? *found : kUnknown;
  }
}

class Walk {
 public:
  Walk(CodedInputStream& in, size_t requests_max) : in_(in), requests_max_(requests_max) {}

  // Adds what the message takes that ends at the stream's limit. False when it is none.
  bool message(const MessageShape& of);
  MessageCost cost() const { return {bytes_ + (verdicts_ ? ids_ * kVerdict : 0) + kAnswer, requests_}; }

 private:
  bool field(const MessageShape& of, uint32_t tag);
  bool varint(const Field& known);
  bool delimited(const Field& known);
  bool nested(const MessageShape& of, int bytes);
  bool unknown_group(uint32_t number);
  bool skip(int bytes) { return in_.Skip(bytes); }

  void add_ids(size_t count) {
    bytes_ += count * kIdWork;
    ids_ += count;
  }

  CodedInputStream& in_;
  const size_t requests_max_;
  size_t bytes_ = 0;
  size_t requests_ = 0;
  size_t ids_ = 0;
  bool verdicts_ = false;
};

bool Walk::message(const MessageShape& of) {
  bytes_ += of.object;
  while (const uint32_t tag = in_.ReadTag()) {
    if (!field(of, tag)) return false;
  }
  return in_.ConsumedEntireMessage();
}

bool Walk::field(const MessageShape& of, uint32_t tag) {
  const Wire wire = WireFormatLite::GetTagWireType(tag);
  const auto number = static_cast<uint32_t>(WireFormatLite::GetTagFieldNumber(tag));
  const Field& known = find(of, number, wire);
  if (known.number == 0) bytes_ += kUnknownField;
  switch (wire) {
    case Wire::WIRETYPE_VARINT: return varint(known);
    case Wire::WIRETYPE_LENGTH_DELIMITED: return delimited(known);
    case Wire::WIRETYPE_START_GROUP: return unknown_group(number);
    case Wire::WIRETYPE_FIXED32: return skip(4);
    case Wire::WIRETYPE_FIXED64:
      if (known.kind == Kind::kFixed64s) {
        bytes_ += kGrowth * 8;
        add_ids(1);
      }
      return skip(8);
    default: return false;
  }
}

bool Walk::varint(const Field& known) {
  uint64_t value = 0;
  if (!in_.ReadVarint64(&value)) return false;
  if (known.kind == Kind::kVarints) bytes_ += 2 * kGrowth * sizeof(uint32_t);  // And once more, decoded.
  // Protobuf keeps the low 32 bits of an enum.
  if (known.kind == Kind::kExplain) verdicts_ |= static_cast<uint32_t>(value) == v1::EXPLAIN_LEVEL_VERDICTS;
  return true;
}

bool Walk::delimited(const Field& known) {
  int bytes = 0;
  if (!in_.ReadVarintSizeAsInt(&bytes)) return false;
  const auto size = static_cast<size_t>(bytes);
  switch (known.kind) {
    case Kind::kMessage: return nested(*known.shape, bytes);
    case Kind::kRequests:
      if (++requests_ > requests_max_) return skip(bytes);
      bytes_ += kPointer + block(sizeof(v1::FilterOutcome)) + kPointer + kAnswer;
      return nested(*known.shape, bytes);
    case Kind::kTexts:
      bytes_ += kString + kPointer;
      add_ids(1);
      break;
    case Kind::kLengths: add_ids(size); break;
    case Kind::kVarints: bytes_ += 2 * kGrowth * sizeof(uint32_t) * size; return skip(bytes);
    case Kind::kFixed64s:
      bytes_ += kGrowth * size;
      add_ids(size / 8);
      return skip(bytes);
    default: break;
  }
  bytes_ += characters(size);
  return skip(bytes);
}

bool Walk::nested(const MessageShape& of, int bytes) {
  if (bytes > in_.BytesUntilLimit() && in_.BytesUntilLimit() >= 0) return false;
  const auto limit = in_.PushLimit(bytes);
  const bool sound = message(of);
  in_.PopLimit(limit);
  return sound;
}

// Everything in it is unknown, too. Protobuf refuses groups within more than a hundred others.
bool Walk::unknown_group(uint32_t number) {
  constexpr size_t kDepthMax = 100;
  uint32_t open[kDepthMax] = {number};
  size_t depth = 1;
  bytes_ += kUnknownGroup;
  static constexpr MessageShape kNothingKnown{0, {}};
  while (depth > 0) {
    const uint32_t tag = in_.ReadTag();
    const auto of = static_cast<uint32_t>(WireFormatLite::GetTagFieldNumber(tag));
    if (tag == 0) return false;
    if (WireFormatLite::GetTagWireType(tag) == Wire::WIRETYPE_END_GROUP) {
      if (open[--depth] != of) return false;
    } else if (WireFormatLite::GetTagWireType(tag) == Wire::WIRETYPE_START_GROUP) {
      if (depth == kDepthMax) return false;
      open[depth++] = of;
      bytes_ += kUnknownGroup;
    } else if (!field(kNothingKnown, tag)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status no_message(const google::protobuf::Descriptor& type) {
  return bad_record("message: it is no " + type.name() + ", or a text in it is not UTF-8");
}

template <typename Request>
Result<MessageCost> message_cost(grpc::ByteBuffer& message, size_t requests_max) {
  grpc::ProtoBufferReader reader(&message);
  CodedInputStream in(&reader);
  const auto all = in.PushLimit(static_cast<int>(message.Length()));
  Walk walk(in, requests_max);
  const bool sound = walk.message(shape(static_cast<const Request*>(nullptr)));
  in.PopLimit(all);
  if (!sound) return no_message(*Request::descriptor());
  return walk.cost();
}

template Result<MessageCost> message_cost<v1::FilterRequest>(grpc::ByteBuffer&, size_t);
template Result<MessageCost> message_cost<v1::FilterBatchRequest>(grpc::ByteBuffer&, size_t);
template Result<MessageCost> message_cost<v1::RecordServedRequest>(grpc::ByteBuffer&, size_t);
template Result<MessageCost> message_cost<v1::GetSnapshotRequest>(grpc::ByteBuffer&, size_t);
template Result<MessageCost> message_cost<v1::ForgetRequest>(grpc::ByteBuffer&, size_t);

}  // namespace bloomring
