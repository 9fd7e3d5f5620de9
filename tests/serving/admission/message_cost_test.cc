#include "serving/admission/message_cost.h"

#include <malloc.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

using namespace bloomring;

namespace {

constexpr size_t kRequestsMax = 1'000'000;
constexpr int kMany = 20'000;

// In pieces of 8 KiB, as they come from a connection.
grpc::ByteBuffer in_pieces(const std::string& bytes) {
  constexpr size_t kPiece = 8'192;
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += kPiece) slices.emplace_back(bytes.substr(at, kPiece));
  return {slices.data(), slices.size()};
}

template <typename Request>
Result<MessageCost> cost_of(const std::string& bytes, size_t requests_max = kRequestsMax) {
  grpc::ByteBuffer message = in_pieces(bytes);
  return message_cost<Request>(message, requests_max);
}

// The memory of the parsed message: by protobuf's count, and by the allocator's where that is known.
template <typename Request>
size_t taken_by(const std::string& bytes) {
  const size_t before = ::mallinfo2().uordblks;
  const auto message = std::make_unique<Request>();
  REQUIRE(message->ParseFromString(bytes));
  const size_t after = ::mallinfo2().uordblks;
  return std::max(message->SpaceUsedLong(), after > before ? after - before : 0);
}

std::string times(int count, const std::string& bytes) {
  std::string all;
  for (int i = 0; i < count; ++i) all += bytes;
  return all;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

std::string tag(int field, int wire) { return varint(static_cast<uint64_t>(field) << 3 | wire); }
std::string field(int number, const std::string& bytes) { return tag(number, 2) + varint(bytes.size()) + bytes; }

v1::FilterRequest with_texts(int count, size_t length) {
  v1::FilterRequest request;
  request.set_user("u1");
  for (int i = 0; i < count; ++i) {
    std::string id = std::to_string(i);
    id.resize(length, 'x');
    request.mutable_candidates()->add_text(id);
  }
  return request;
}

}  // namespace

TEST_CASE("message cost: it is never below what the parsed message takes, whatever the message is made of") {
  const std::string ids = field(3, times(kMany, field(1, "")));
  const std::vector<std::pair<std::string, std::string>> messages = {
      {"nothing", ""},
      {"empty ids", ids},
      {"ids in many lists", times(kMany, field(3, field(1, "")))},
      {"ids of 15 characters", with_texts(kMany, 15).SerializeAsString()},
      {"ids of 16 characters", with_texts(kMany, 16).SerializeAsString()},
      {"ids of 128 characters", with_texts(kMany, 128).SerializeAsString()},
      {"integers", field(3, field(2, std::string(8 * kMany, 'i')))},
      {"integers one by one", field(3, times(kMany, tag(2, 1) + std::string(8, 'i')))},
      {"packed ids", field(3, field(3, field(1, std::string(12 * kMany, 'p')) + field(2, std::string(kMany, 12))))},
      {"counts of ids", field(4, std::string(kMany, 1))},
      {"counts of ids one by one", times(kMany, tag(4, 0) + varint(1))},
      {"a user again and again", times(kMany, field(1, "a user of twenty letters"))},
      {"switches again and again", times(kMany, tag(7, 0) + varint(1))},
      {"unknown numbers", times(kMany, tag(100, 0) + varint(1))},
      {"unknown bytes", times(kMany, field(100, ""))},
      {"unknown bytes of some length", times(kMany, field(100, std::string(40, 'b')))},
      {"unknown numbers of 4 bytes", times(kMany, tag(100, 5) + "four")},
      {"unknown groups", times(kMany, tag(100, 3) + tag(100, 4))},
      {"unknown groups with a field", times(kMany, tag(15, 3) + tag(1, 0) + varint(1) + tag(15, 4))},
      {"unknown groups in groups", times(kMany / 50, times(50, tag(15, 3)) + times(50, tag(15, 4)))},
      {"known fields of another type", times(kMany, tag(1, 0) + varint(1))},
      {"unknown fields of ids", field(3, times(kMany, field(9, "")))},
  };
  for (const auto& [name, bytes] : messages) {
    INFO(name);
    const auto cost = cost_of<v1::FilterRequest>(bytes);
    REQUIRE(cost.ok());
    CHECK(cost->bytes >= taken_by<v1::FilterRequest>(bytes));
    const std::string batch = field(1, bytes);
    CHECK(cost_of<v1::FilterBatchRequest>(batch)->bytes >= taken_by<v1::FilterBatchRequest>(batch));
  }
}

TEST_CASE("message cost: empty requests of a batch cost what they and their answers take, and are counted") {
  const std::string bytes = times(kMany, field(1, ""));
  const auto cost = cost_of<v1::FilterBatchRequest>(bytes);
  CHECK(cost->requests == kMany);
  v1::FilterBatchResponse response;
  for (int i = 0; i < kMany; ++i) response.add_outcomes()->mutable_response();
  CHECK(cost->bytes >= taken_by<v1::FilterBatchRequest>(bytes) + response.SpaceUsedLong());
  const auto beyond = cost_of<v1::FilterBatchRequest>(bytes, 200);
  CHECK(beyond->requests == kMany);
  CHECK(beyond->bytes < 200 * (cost->bytes / kMany + 1) + 10'000);
}

TEST_CASE("message cost: a list of verdicts is counted where it is asked for") {
  v1::FilterRequest request = with_texts(kMany, 8);
  const size_t without = cost_of<v1::FilterRequest>(request.SerializeAsString())->bytes;
  request.set_explain(v1::EXPLAIN_LEVEL_VERDICTS);
  v1::FilterResponse response;
  for (int i = 0; i < kMany; ++i) {
    v1::Verdict& verdict = *response.add_verdicts();
    verdict.set_candidate(i);
    verdict.set_period("2026-11");
  }
  CHECK(cost_of<v1::FilterRequest>(request.SerializeAsString())->bytes >= without + response.SpaceUsedLong());
}

TEST_CASE("message cost: verdicts are counted for every number that protobuf reads as asking for them") {
  std::string request = with_texts(kMany, 8).SerializeAsString();
  const size_t without = cost_of<v1::FilterRequest>(request)->bytes;
  const uint64_t beyond_32_bits = 1ull << 32 | v1::EXPLAIN_LEVEL_VERDICTS;
  request += tag(v1::FilterRequest::kExplainFieldNumber, 0) + varint(beyond_32_bits);
  v1::FilterRequest parsed;
  REQUIRE(parsed.ParseFromString(request));
  REQUIRE(parsed.explain() == v1::EXPLAIN_LEVEL_VERDICTS);
  CHECK(cost_of<v1::FilterRequest>(request)->bytes >= without + kMany * sizeof(v1::Verdict));
}

TEST_CASE("message cost: ordinary requests cost at most a few times what they take, so few are refused for nothing") {
  v1::FilterRequest integers;
  for (int i = 0; i < 5'000; ++i) integers.mutable_candidates()->add_integers(i);
  CHECK(cost_of<v1::FilterRequest>(with_texts(5'000, 11).SerializeAsString())->bytes < 600'000);
  CHECK(cost_of<v1::FilterRequest>(integers.SerializeAsString())->bytes < 300'000);
}

TEST_CASE("message cost: the messages of the other calls have a cost, too") {
  const std::string items = field(3, times(1'000, field(1, "an item of some letters")));
  CHECK(cost_of<v1::RecordServedRequest>(items)->bytes >= taken_by<v1::RecordServedRequest>(items));
  const std::string unknown = times(kMany, field(100, ""));
  CHECK(cost_of<v1::ForgetRequest>(unknown)->bytes >= taken_by<v1::ForgetRequest>(unknown));
  CHECK(cost_of<v1::GetSnapshotRequest>(unknown)->bytes >= taken_by<v1::GetSnapshotRequest>(unknown));
}

TEST_CASE("message cost: bytes that are no message are refused") {
  const std::vector<std::string> wrong = {
      tag(1, 2) + varint(100) + "short",  tag(1, 2), tag(100, 3), tag(100, 4), tag(100, 3) + tag(101, 4),
      times(200, tag(100, 3)),            tag(1, 6), std::string(1, '\0'),
      field(3, tag(1, 2) + varint(100)),  tag(6, 0), std::string(11, '\xff'),
      tag(1, 2) + varint(0xffff'ffff),
  };
  for (const std::string& bytes : wrong) {
    const auto cost = cost_of<v1::FilterRequest>(bytes);
    CHECK(cost.code() == Code::kBadRecord);
    CHECK_FALSE(v1::FilterRequest().ParseFromString(bytes));
  }
  CHECK(cost_of<v1::FilterRequest>(tag(100, 3)).status().message() ==
        "message: it is no FilterRequest, or a text in it is not UTF-8");
}
