#include "serving/server/health_calls.h"

#include <grpcpp/generic/generic_stub.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <vector>

#include "pipeline/runtime/wait.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// HealthCheckRequest { string service = 1; }
grpc::ByteBuffer asking(const std::string& service) {
  const grpc::Slice slice(service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service);
  return {&slice, 1};
}

// HealthCheckResponse { ServingStatus status = 1; }
int status_in(const grpc::ByteBuffer& answer) {
  std::vector<grpc::Slice> slices;
  REQUIRE(answer.Dump(&slices).ok());
  REQUIRE(slices.at(0).size() == 2);
  return slices[0].begin()[1];
}

constexpr int kServing = 1, kNotServing = 2, kUnknown = 3;

class Watch final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Watch(const std::shared_ptr<grpc::Channel>& channel, const std::string& service)
      : stub_(channel), sent_(asking(service)) {
    stub_.PrepareBidiStreamingCall(&context_, "/grpc.health.v1.Health/Watch", {}, this);
    StartWriteLast(&sent_, {});
    StartRead(&got_);
    StartCall();
  }
  Watch(const Watch&) = delete;
  ~Watch() override {
    context_.TryCancel();
    ended_.get_future().wait();
  }
  // All that were told, once there are so many.
  std::vector<int> told(size_t count) {
    std::unique_lock lock(mutex_);
    another_.wait(lock, [&] { return told_.size() >= count; });
    return told_;
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    {
      const std::lock_guard lock(mutex_);
      told_.push_back(status_in(got_));
    }
    another_.notify_all();
    StartRead(&got_);
  }
  void OnDone(const grpc::Status&) override { ended_.set_value(); }

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer sent_, got_;
  std::mutex mutex_;
  std::condition_variable another_;
  std::vector<int> told_;
  std::promise<void> ended_;
};

grpc::Status check(const Served& served, grpc::ByteBuffer request, grpc::ByteBuffer* answer) {
  grpc::ClientContext context;
  grpc::GenericStub stub(served.channel);
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", {}, &request, answer,
                 [&](grpc::Status status) { ended.set_value(std::move(status)); });
  return ended.get_future().get();
}

using Told = std::vector<int>;

}  // namespace

TEST_CASE("health calls: Watch tells the status at once and at each change, and no status twice") {
  Served served;
  Watch server(served.channel, ""), service(served.channel, "bloomring.v1.BloomringService");
  CHECK(server.told(1) == Told{kServing});
  CHECK(service.told(1) == Told{kServing});
  served.server->set_serving(true);
  served.server->set_serving(false);
  CHECK(server.told(2) == Told{kServing, kNotServing});
  served.server->set_serving(true);
  CHECK(service.told(3) == Told{kServing, kNotServing, kServing});
}

TEST_CASE("health calls: of a service that there is not, Watch tells that it is unknown, and Check is NOT_FOUND") {
  Served served;
  Watch other(served.channel, "other.Service");
  CHECK(other.told(1) == Told{kUnknown});
  grpc::ByteBuffer answer;
  CHECK(check(served, asking("other.Service"), &answer).error_code() == grpc::StatusCode::NOT_FOUND);
}

TEST_CASE("health calls: bytes that are no message are INVALID_ARGUMENT") {
  Served served;
  const grpc::Slice slice("\xff\xff\xff");
  grpc::ByteBuffer answer;
  CHECK(check(served, {&slice, 1}, &answer).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("health calls: behind the end nothing serves any more, whatever is set") {
  Served served;
  Watch watch(served.channel, "");
  CHECK(watch.told(1) == Told{kServing});
  served.server->announce_end();
  CHECK(watch.told(2) == Told{kServing, kNotServing});
  served.server->set_serving(true);
  grpc::ByteBuffer answer;
  REQUIRE(check(served, asking(""), &answer).ok());
  CHECK(status_in(answer) == kNotServing);
}

TEST_CASE("health calls: a client that goes leaves nothing behind, and others are told on") {
  Served served;
  Watch stays(served.channel, "");
  CHECK(stays.told(1) == Told{kServing});
  for (int i = 0; i < 20; ++i) Watch(served.channel, "").told(1);
  served.server->set_serving(false);
  CHECK(stays.told(2) == Told{kServing, kNotServing});
  const SystemClock clock;
  CHECK(wait_until(clock, 60'000, "the others to be gone", [&]() -> Result<bool> {
          return served.server->places().open == 1;
        }).ok());
}
