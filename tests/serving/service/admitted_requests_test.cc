// Requests are admitted by what they would take, before anything is made of their bytes.
#include <grpcpp/generic/generic_stub.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <list>
#include <set>
#include <string>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// The end of a call of Filter or FilterBatch with these bytes as its message.
grpc::Status send(Served& served, const std::string& method, const std::string& bytes,
                  grpc_compression_algorithm algorithm = GRPC_COMPRESS_NONE) {
  grpc::ClientContext context;
  context.set_compression_algorithm(algorithm);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer in(&slice, 1);
  grpc::ByteBuffer out;
  std::promise<grpc::Status> ended;
  grpc::GenericStub stub(served.channel);
  stub.UnaryCall(&context, "/bloomring.v1.BloomringService/" + method, {}, &in, &out,
                 [&](grpc::Status status) { ended.set_value(status); });
  return ended.get_future().get();
}

std::string question(int candidates) {
  v1::FilterRequest request;
  request.set_user("u1");
  for (int i = 0; i < candidates; ++i) request.mutable_candidates()->add_text("v1");
  return request.SerializeAsString();
}

constexpr size_t kScenes = 16;

void know_scenes(Served& served) {
  std::set<std::string> scenes;
  for (size_t i = 0; i < kScenes; ++i) scenes.insert("scene-" + std::to_string(i));
  served.partitions.known.note_stored(scenes);
}

size_t allocated() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace

TEST_CASE("admitted requests: a compressed message is refused with a clear text, and the next plain one is answered") {
  Served served;
  for (const grpc_compression_algorithm algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    const grpc::Status refused = send(served, "Filter", question(10'000), algorithm);
    CHECK(refused.error_code() == grpc::StatusCode::UNIMPLEMENTED);
    CHECK_THAT(refused.error_message(), Catch::Contains("Compression algorithm") && Catch::Contains("is disabled"));
    CHECK(send(served, "Filter", question(10'000)).ok());
  }
}

TEST_CASE("admitted requests: a batch of millions of empty requests is refused by their number") {
  Served served;
  std::string batch;
  for (int i = 0; i < 2'000'000; ++i) batch += std::string("\x0a\x00", 2);
  const grpc::Status refused = send(served, "FilterBatch", batch);
  CHECK(refused.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(refused.error_message() ==
        "requests: 2000000 requests, at most 200 are allowed; send them in several calls");
}

TEST_CASE("admitted requests: a message that takes more than all memory for requests is refused with both numbers") {
  Served served({.service = {.memory_bytes_max = 1 << 20}});
  CHECK(send(served, "Filter", question(1'000)).ok());
  const grpc::Status refused = send(served, "Filter", question(20'000));
  CHECK(refused.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  CHECK_THAT(refused.error_message(),
             Catch::StartsWith("message: ") && Catch::EndsWith("bytes of memory, at most 1048576 are allowed; ask "
                                                               "about fewer items in a call, or send them packed"));
}

TEST_CASE("admitted requests: a call that finds the memory taken by others is refused, and admitted after their end") {
  Served served({.service = {.memory_bytes_max = 150'000, .admission_wait_ms = 0}});
  served.log.stalled = true;
  const std::vector<std::string> many(900, "v1");
  auto first = std::async([&] { return served.record_served(many); });
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, "the first call to be in flight", [&]() -> Result<bool> {
            const std::lock_guard lock(served.log.mutex);
            return !served.log.waiting.empty();
          }).ok());
  const grpc::Status refused = served.record_served(many);
  CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK_THAT(refused.error_message(), Catch::StartsWith("the memory for requests is taken by others; ask again"));
  served.log.stalled = false;
  served.log.acknowledge();
  CHECK(first.get().ok());
  // Its share comes back when its answer was handed to gRPC.
  CHECK(wait_until(clock, 60'000, "a call to be admitted", [&]() -> Result<bool> {
          return served.record_served(many).ok();
        }).ok());
}

TEST_CASE("admitted requests: bytes that are no message are the caller's mistake") {
  Served served;
  for (const std::string& bytes : {std::string("\x1f\x8b\x08 no message"), std::string("\x0a\x01\xff")}) {
    const grpc::Status refused = send(served, "Filter", bytes);
    CHECK(refused.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
    CHECK(refused.error_message() == "message: it is no FilterRequest, or a text in it is not UTF-8");
  }
}

TEST_CASE("admitted requests: a forget in all scenes takes what it was admitted for, not that for each scene") {
  Served served;
  know_scenes(served);
  served.log.stalled = true;
  const size_t before = allocated();
  constexpr size_t kUnknownBytes = 4 << 20;
  v1::ForgetRequest request;
  request.set_user("u1");
  request.set_everything(true);
  request.set_all_scenes(true);
  request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(100, std::string(kUnknownBytes, 'x'));
  auto forgotten = std::async([&] { return send(served, "Forget", request.SerializeAsString()); });
  const SystemClock clock;
  REQUIRE(wait_until(clock, 60'000, "all scenes to be in flight", [&]() -> Result<bool> {
            const std::lock_guard lock(served.log.mutex);
            return served.log.waiting.size() == kScenes;
          }).ok());
  const size_t taken = allocated() - before;
  served.log.outcome = retry("the end of the test");
  served.log.acknowledge();
  CHECK_FALSE(forgotten.get().ok());
  CHECK(taken < kScenes / 2 * kUnknownBytes);
}

TEST_CASE("admitted requests: a question that is passed on about each scene takes memory for each") {
  Served holder;
  Served asked({.service = {.memory_bytes_max = 1 << 20}});
  know_scenes(holder);
  know_scenes(asked);
  asked.partitions.held = nullptr;
  asked.partitions.elsewhere = {holder.server->address()};
  v1::FilterRequest request;
  request.set_user("u1");
  request.set_all_scenes(true);
  for (int i = 0; i < 1'000; ++i) request.mutable_candidates()->add_text(std::string(100, 'v'));
  v1::FilterResponse response;
  const grpc::Status status = asked.filter(request, &response);
  INFO(status.error_message());
  REQUIRE(status.ok());
  CHECK_FALSE(response.complete());
  REQUIRE(response.gaps_size() > 0);
  CHECK_THAT(response.gaps(0).reason(), Catch::EndsWith("the memory for requests is taken by others"));
  CHECK(asked.server->counters().forwarded < kScenes);
  request.mutable_candidates()->Clear();
  request.mutable_candidates()->add_text("v1");
  REQUIRE(asked.filter(request, &response).ok());  // All of it came back.
  CHECK(response.complete());
}

namespace {

// A call whose client lets its answer come no further than the first bytes.
class UnreadCall final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  UnreadCall(grpc::GenericStub& stub, const std::string& method, const std::string& message) {
    const grpc::Slice slice(message);
    sent_ = grpc::ByteBuffer(&slice, 1);
    stub.PrepareBidiStreamingCall(&context_, "/bloomring.v1.BloomringService/" + method, {}, this);
    StartWriteLast(&sent_, {});
    StartCall();
  }
  UnreadCall(const UnreadCall&) = delete;
  ~UnreadCall() override {
    context_.TryCancel();
    ended_.get_future().wait();
  }
  bool refused() const { return code_ == grpc::StatusCode::RESOURCE_EXHAUSTED; }

 private:
  void OnDone(const grpc::Status& status) override {
    code_ = status.error_code();
    ended_.set_value();
  }

  grpc::ClientContext context_;
  grpc::ByteBuffer sent_;
  std::atomic<grpc::StatusCode> code_{grpc::StatusCode::OK};
  std::promise<void> ended_;
};

}  // namespace

TEST_CASE("admitted requests: snapshots that their client never reads take at most half of the memory for requests") {
  constexpr size_t kMemory = 4 << 20, kPlays = 60'000, kCalls = 20;
  Served served({.service = {.memory_bytes_max = kMemory}});
  std::vector<ItemHash> items;
  for (size_t i = 0; i < kPlays; ++i) items.push_back(item_hash("v" + std::to_string(i)));
  served.world.play_all("u1", items, kStartMs);
  v1::GetSnapshotRequest request;
  request.set_user("u1");
  v1::GetSnapshotResponse response;
  const auto snapshot = [&] {
    grpc::ClientContext context;
    return served.stub->GetSnapshot(&context, request, &response);
  };
  REQUIRE(snapshot().ok());
  const size_t bytes = response.ByteSizeLong();
  REQUIRE(bytes > 4 * kPlays);
  const size_t held_max = (kMemory / bytes + 1) / 2;  // The last one may find as much free as it takes.
  {
    grpc::ChannelArguments narrow;  // It never lets the server send more than the first window of a stream.
    narrow.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    narrow.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    grpc::GenericStub stub(
        grpc::CreateCustomChannel(served.server->address(), grpc::InsecureChannelCredentials(), narrow));
    std::list<UnreadCall> calls;
    for (size_t i = 0; i < kCalls; ++i) calls.emplace_back(stub, "GetSnapshot", request.SerializeAsString());
    const auto held = [&] { return kCalls - static_cast<size_t>(std::ranges::count_if(calls, &UnreadCall::refused)); };
    const SystemClock clock;
    CHECK(wait_until(clock, 60'000, "those beyond half to be refused", [&]() -> Result<bool> {
            return held() <= held_max;
          }).ok());
    CHECK(held() > 0);
    const grpc::Status refused = snapshot();
    CHECK(refused.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  const SystemClock clock;
  CHECK(wait_until(clock, 60'000, "their memory to come back", [&]() -> Result<bool> { return snapshot().ok(); }).ok());
}
