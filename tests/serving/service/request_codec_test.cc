// Bad input from the network, each kind by its name: what it is refused with, and that the service lives on.
#include <grpcpp/generic/generic_stub.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>

#include "client/client.h"
#include "client/snapshot_filter.h"
#include "tests/serving/service/raw_call.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

enum class Form { kText, kIntegers, kPacked };

void add(v1::Ids& ids, Form form, const std::string& id) {
  if (form == Form::kText) return ids.add_text(id);
  if (form == Form::kIntegers) return ids.add_integers(std::stoll(id));
  ids.mutable_packed()->mutable_bytes()->append(id);
  ids.mutable_packed()->mutable_lengths()->push_back(static_cast<char>(id.size()));
}

v1::Ids many(Form form, int count) {
  v1::Ids ids;
  for (int i = 0; i < count; ++i) add(ids, form, std::to_string(i));
  return ids;
}

// "candidates: an id is empty", for a status that is INVALID_ARGUMENT.
std::string refused(const grpc::Status& status) {
  CHECK(status.error_code() == grpc::StatusCode::INVALID_ARGUMENT);
  return status.error_message();
}

std::string refused_candidates(Served& served, const v1::Ids& ids) {
  return refused(served.refusal([&](v1::FilterRequest& request) { *request.mutable_candidates() = ids; }));
}

bool answers(Served& served) {
  return served.refusal([](v1::FilterRequest& request) { request.mutable_candidates()->add_text("v1"); }).ok();
}

// The status of a call with these bytes as its message, whatever they are.
grpc::Status call_with_bytes(Served& served, const std::string& method, const std::string& bytes) {
  grpc::ClientContext context;
  grpc::GenericStub stub(served.channel);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer in(&slice, 1);
  grpc::ByteBuffer out;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, "/bloomring.v1.BloomringService/" + method, {}, &in, &out,
                 [&](grpc::Status status) { ended.set_value(std::move(status)); });
  return ended.get_future().get();
}

// A field of the wire format with a length before its bytes; the number is at most 15.
std::string field(int number, const std::string& bytes) {
  std::string head(1, static_cast<char>(number << 3 | 2));
  size_t size = bytes.size();
  for (; size >= 128; size >>= 7) head += static_cast<char>((size & 127) | 128);
  return head + static_cast<char>(size) + bytes;
}

// Lets nobody look a partition up before it is opened.
class GatedPartition final : public PartitionDirectory {
 public:
  explicit GatedPartition(const ServingWorld& world) : held_(world.partition) {}
  uint32_t partition_count() const override { return 1; }
  std::shared_ptr<ReplicaPartition> find(PartitionId) const override {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
    return held_;
  }
  std::vector<std::string> holders(PartitionId) const override { return {}; }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  const std::shared_ptr<ReplicaPartition> held_;
  mutable std::mutex mutex_;
  mutable std::condition_variable opened_;
  bool open_ = false;
};

}  // namespace

TEST_CASE("bad input: 20,001 candidates are refused in each form, 20,000 are not") {
  Served served;
  const Form form = GENERATE(Form::kText, Form::kIntegers, Form::kPacked);
  CHECK(refused_candidates(served, many(form, 20'001)) == "candidates: 20001 ids, at most 20000 are allowed");
  CHECK(served.refusal([&](v1::FilterRequest& request) { *request.mutable_candidates() = many(form, 20'000); }).ok());
  const auto in_batch = [&](int candidates) {
    v1::FilterBatchRequest batch;
    for (const int count : {candidates / 2, candidates - candidates / 2}) {
      v1::FilterRequest& request = *batch.add_requests();
      request.set_user("u1");
      *request.mutable_candidates() = many(form, count);
    }
    grpc::ClientContext context;
    v1::FilterBatchResponse response;
    return served.stub->FilterBatch(&context, batch, &response);
  };
  CHECK(refused(in_batch(200'001)) ==
        "candidates: 200001 ids in all requests, at most 200000 are allowed; send the requests in several calls");
  CHECK(in_batch(200'000).ok());
}

TEST_CASE("bad input: empty ids are refused wherever an id is named") {
  Served served;
  const Form form = GENERATE(Form::kText, Form::kPacked);
  v1::Ids ids;
  for (const char* id : {"v1", "", "v2"}) add(ids, form, id);
  CHECK(refused_candidates(served, ids) == "candidates: an id is empty");
  CHECK(refused(served.refusal([&](v1::FilterRequest& request) { *request.mutable_client_seen() = ids; })) ==
        "client_seen: an id is empty");
  CHECK(refused(served.refusal([](v1::FilterRequest& request) { request.clear_user(); })) == "user: an id is empty");
  CHECK(refused(served.record_served({"v1", ""})) == "items: an id is empty");
  CHECK(served.log.appended.empty());
  CHECK(answers(served));
}

TEST_CASE("bad input: ids with NUL are refused wherever an id is named") {
  Served served;
  const Form form = GENERATE(Form::kText, Form::kPacked);
  const std::string id("a\0b", 3);
  const std::string expected = form == Form::kText ? "candidates: an id is not UTF-8 or contains NUL"
                                                   : "candidates.packed.bytes: not UTF-8 or contains NUL";
  v1::Ids ids;
  add(ids, form, id);
  CHECK(refused_candidates(served, ids) == expected);
  CHECK(refused(served.refusal([&](v1::FilterRequest& request) { request.set_user(id); })) ==
        "user: not UTF-8 or contains NUL");
  CHECK(refused(served.refusal([&](v1::FilterRequest& request) { request.set_scene(id); })) ==
        "scene: not UTF-8 or contains NUL");
  CHECK(refused(served.record_served({id})) == "items: an id is not UTF-8 or contains NUL");
  CHECK(served.log.appended.empty());
  CHECK(answers(served));
}

TEST_CASE("bad input: bytes that are not UTF-8 in a text field fail the call, and nothing is answered or written") {
  Served served;
  // Cut, overlong, a surrogate, beyond Unicode, a lone continuation.
  const std::string bad = GENERATE(as<std::string>{}, "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80");
  const std::string user = field(1, "u1"), items = field(3, field(1, bad));
  for (const std::string& bytes : {field(1, bad), user + field(2, bad), user + items, user + field(5, field(1, bad))}) {
    CHECK_FALSE(call_with_bytes(served, "Filter", bytes).ok());
  }
  for (const char* method : {"RecordServed", "Forget", "GetSnapshot"}) {
    CHECK_FALSE(call_with_bytes(served, method, field(1, bad) + items).ok());
  }
  v1::Ids packed;
  add(packed, Form::kPacked, bad);
  CHECK(refused_candidates(served, packed) == "candidates.packed.bytes: not UTF-8 or contains NUL");
  CHECK(served.log.appended.empty());
  CHECK(answers(served));
}

TEST_CASE("bad input: bytes that are no message fail the call") {
  Served served;
  for (const std::string& bytes :
       {std::string("\xff\xff\xff"), field(1, "u1").substr(0, 3), std::string("\x0a\xff\xff\xff\xff\x7f")}) {
    CHECK_FALSE(call_with_bytes(served, "Filter", bytes).ok());
  }
  CHECK(call_with_bytes(served, "Filter", field(1, "u1")).ok());  // As a check of the check.
  CHECK(call_with_bytes(served, "Nothing", "").error_code() == grpc::StatusCode::UNIMPLEMENTED);
  CHECK(answers(served));
}

TEST_CASE("bad input: a request whose every field is as large as it may be is answered") {
  Served served;
  v1::Ids ids;
  for (int i = 0; i < 20'000; ++i) ids.add_text(std::string(123, 'v') + std::to_string(10'000 + i));
  const grpc::Status status = served.refusal([&](v1::FilterRequest& request) {
    *request.mutable_candidates() = ids;
    *request.mutable_client_seen() = ids;
    for (int i = 0; i < 20'000; ++i) request.add_ids_per_candidate(1);
  });
  CHECK(status.error_message() == "");
}

TEST_CASE("bad input: a message of too many bytes is refused with what is too much, the limit and what to do") {
  Served served;
  const std::string garbage = field(15, std::string(15 << 20, 'x'));  // A field that this version does not know.
  const std::string expected =
      "message: " + std::to_string(garbage.size() + 4) +
      " bytes, at most 8388608 are allowed; ask about fewer items in a call, or send them packed";
  for (const char* method : {"Filter", "RecordServed", "GetSnapshot"}) {
    CAPTURE(method);
    CHECK(refused(call_with_bytes(served, method, field(1, "u1") + garbage)) == expected);
  }
  const auto refused_bytes = [&](const char* method, const std::string& fields) {
    return refused(call_with_bytes(served, method, fields + garbage)).starts_with("message: ");
  };
  CHECK(refused_bytes("FilterBatch", field(1, field(1, "u1"))));
  CHECK(refused_bytes("Forget", field(1, "u1") + field(3, "v1")));
  // A field that is too large says so before the message as a whole.
  CHECK(refused(served.refusal([](v1::FilterRequest& request) {
          for (int i = 0; i < 100'000; ++i) request.mutable_candidates()->add_text(std::string(100, 'v'));
        })) == "candidates: 100000 ids, at most 20000 are allowed");
  CHECK(refused(served.record_served(std::vector<std::string>(100'000, std::string(100, 'v')))) ==
        "items: 100000 ids, at most 1000 are allowed");
  CHECK(served.log.appended.empty());
  CHECK(answers(served));
}

TEST_CASE("bad input: a message of too many bytes is refused in words by a server with little memory, too") {
  Served served({.memory_bytes_max = 32 << 20});
  const std::string garbage = field(15, std::string(15 << 20, 'x'));
  for (int i = 0; i < 3; ++i) {
    CHECK(refused(call_with_bytes(served, "Filter", field(1, "u1") + garbage)).starts_with("message: "));
  }
  CHECK(answers(served));
}

TEST_CASE("bad input: a message of 64 MiB is refused and the connection lives on") {
  Served served;
  const grpc::Status status = served.refusal([](v1::FilterRequest& request) {
    request.mutable_candidates()->mutable_packed()->set_bytes(std::string(64 << 20, 'x'));
  });
  CHECK(status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(answers(served));
}

TEST_CASE("bad input: a snapshot blob with any byte changed to anything else is refused") {
  Served served;
  served.world.play("u1", "merged");
  served.world.merge();
  served.world.play("u1", "recent");
  served.world.serve("u1", "served");
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false});
  const std::string blob = client->snapshot("u1", "").value();
  REQUIRE(SnapshotFilter::open(blob).ok());
  for (size_t i = 0; i < blob.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      std::string changed = blob;
      changed[i] = static_cast<char>(changed[i] ^ change);
      const auto opened = SnapshotFilter::open(changed);
      if (opened.code() != Code::kCorrupt) FAIL("byte " << i << " with " << change << " turned over is taken");
    }
  }
}

TEST_CASE("bad input: a deadline in the past ends every call at once, and the client library fails open") {
  Served served;
  const auto client = Client::connect({.server = served.server->address(), .deadline_ms = -1'000});
  FilterCall call;
  call.user = "u1";
  call.items = {"v1"};
  const FilterReply reply = client->filter(call).value();
  CHECK_FALSE(reply.items[0].seen);
  CHECK_FALSE(reply.complete);
  CHECK(reply.error.code() == Code::kRetry);
  CHECK(client->snapshot("u1", "").code() == Code::kRetry);
  CHECK(client->record_served("u1", "", {"v1"}).code() == Code::kRetry);
  CHECK(client->forget("u1", "", "v1").code() == Code::kRetry);
  CHECK(served.log.appended.empty());
  CHECK(answers(served));
}

TEST_CASE("bad input: a call whose deadline passes before its turn comes reads nothing and writes nothing") {
  const std::string user = field(1, "u1"), ids = field(3, field(1, "v1")), item = field(3, "v1");
  const auto [method, message] = GENERATE_REF(table<std::string, std::string>(
      {{"Filter", user + ids}, {"GetSnapshot", user}, {"RecordServed", user + ids}, {"Forget", user + item}}));
  CAPTURE(method);
  ServingWorld world;
  GatedPartition partitions(world);
  EventLogDouble log;
  const auto server = GrpcServer::start({}, partitions, world.core, &log).value();
  RawCall call(server->address());
  call.send_head(method, "100m");
  call.send_message(message);
  // The server itself ends the call, by its own clock, while nobody opens the gate.
  CHECK(call.end().status == static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED));
  partitions.open();
  server->shutdown(60'000);  // Every call that came has ended.
  CHECK(log.appended.empty());
  CHECK(testing::candidates(server->counters()) == 0);
  CHECK(server->counters().in_flight == 0);
  // A call that came to its turn when the server had begun to end was told so.
  const auto& counters = server->counters();
  CHECK(counters.requests == counters.refused_deadline + counters.refused_unavailable);
}

TEST_CASE("bad input: a call whose deadline is over when it arrives is DEADLINE_EXCEEDED, and its work is not begun") {
  Served served;
  v1::FilterRequest filter;
  filter.set_user("u1");
  filter.mutable_candidates()->add_text("v1");
  v1::RecordServedRequest record;
  record.set_user("u1");
  record.mutable_items()->add_text("v1");
  v1::ForgetRequest forget;
  forget.set_user("u1");
  forget.set_item("v1");
  v1::GetSnapshotRequest snapshot;
  snapshot.set_user("u1");
  const std::pair<const char*, std::string> calls[] = {{"Filter", filter.SerializeAsString()},
                                                       {"RecordServed", record.SerializeAsString()},
                                                       {"Forget", forget.SerializeAsString()},
                                                       {"GetSnapshot", snapshot.SerializeAsString()}};
  const auto expect_exceeded = [](const RawCall::End& end) {
    CHECK_FALSE(end.reset);
    CHECK(end.status == static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED));
    CHECK(end.messages == 0);
  };
  for (const auto& [method, message] : calls) {
    CAPTURE(method);
    for (const char* timeout : {"0n", "0S", "0H"}) {
      RawCall call(served.server->address());
      call.send_head(method, timeout);
      call.send_message(message);
      expect_exceeded(call.end());
    }
    RawCall slow(served.server->address());  // It is over before the message comes.
    slow.send_head(method, "1n");
    expect_exceeded(slow.end());
    slow.send_message(message);
  }
  CHECK(answers(served));
  served.server->shutdown(60'000);  // Every call that came has ended.
  CHECK(served.log.appended.empty());
  const ServingCounters& counters = served.server->counters();
  CHECK(testing::candidates(counters) == 1);  // Of the call that was answered.
  CHECK(counters.requests == counters.refused_deadline + 1);
  CHECK(counters.in_flight == 0);
}

TEST_CASE("bad input: a deadline that is no time is none, and the call is answered") {
  Served served;
  v1::FilterRequest request;
  request.set_user("u1");
  request.mutable_candidates()->add_text("v1");
  for (const char* timeout : {"-1S", "-1n", "1", "S", "", "1x", "1.5S", "0x1S"}) {
    CAPTURE(timeout);
    RawCall call(served.server->address());
    call.send_head("Filter", timeout);
    call.send_message(request.SerializeAsString());
    const RawCall::End end = call.end();
    CHECK(end.status == static_cast<int>(grpc::StatusCode::OK));
    CHECK(end.messages == 1);
  }
  CHECK(answers(served));
}
