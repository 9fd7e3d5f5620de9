#include "serving/server/health_calls.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <optional>

#include "grpc/health/v1/health.pb.h"
#include "serving/admission/placed_call.h"

namespace bloomring {

namespace {

using Request = grpc::health::v1::HealthCheckRequest;
using Response = grpc::health::v1::HealthCheckResponse;
using ServingStatus = Response::ServingStatus;

ServingStatus status_of(bool serving) { return serving ? Response::SERVING : Response::NOT_SERVING; }

// The service that a message names; nothing where it is no message.
std::optional<std::string> service_of(grpc::ByteBuffer& message) {
  Request request;
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, Request>(&message, &request).ok()) return std::nullopt;
  return request.service();
}

grpc::ByteBuffer answer_with(ServingStatus status) {
  Response response;
  response.set_status(status);
  grpc::ByteBuffer bytes;
  bool own = false;
  static_cast<void>(grpc::GenericSerialize<grpc::ProtoBufferWriter, Response>(response, &bytes, &own));
  return bytes;
}

const grpc::Status kNoMessage(grpc::StatusCode::INVALID_ARGUMENT, "the message is no HealthCheckRequest");

}  // namespace

class HealthCalls::Check final : public PlacedCall {
 public:
  Check(HealthCalls& health, grpc::CallbackServerContext& context)
      : PlacedCall(health.places_, context), health_(health) {}

 private:
  void on_message() override {
    const auto service = service_of(message());
    if (!service) return end_with(kNoMessage);
    if (!health_.knows(*service)) return end_with({grpc::StatusCode::NOT_FOUND, "service name unknown"});
    answer_ = answer_with(status_of(health_.serving()));
    end_with(grpc::Status::OK, &answer_);
  }

  HealthCalls& health_;
  grpc::ByteBuffer answer_;
};

// Everything of it but the first two is guarded by the mutex of `health`.
class HealthCalls::Watch final : public PlacedCall {
 public:
  Watch(HealthCalls& health, grpc::CallbackServerContext& context)
      : PlacedCall(health.places_, context), health_(health) {}

  // With the lock held.
  void tell() {
    const ServingStatus status = known_ ? status_of(health_.serving_) : Response::SERVICE_UNKNOWN;
    if (writes_ || finished_ || told_ == status) return;
    told_ = status;
    writes_ = true;
    answer_ = answer_with(status);
    StartWrite(&answer_);
  }

 private:
  void on_message() override {
    const auto service = service_of(message());
    const std::lock_guard lock(health_.mutex_);
    if (!service) return finish(kNoMessage);
    known_ = health_.knows(*service);
    at_ = health_.watches_.insert(health_.watches_.end(), this);
    if (gone_) return finish(grpc::Status::CANCELLED);
    tell();
  }
  void OnWriteDone(bool) override {
    const std::lock_guard lock(health_.mutex_);
    writes_ = false;
    tell();
  }
  // A call without its message is finished by the end of the read.
  void OnCancel() override {
    const std::lock_guard lock(health_.mutex_);
    gone_ = true;
    if (at_) finish(grpc::Status::CANCELLED);
  }
  void finish(const grpc::Status& status) {
    if (finished_) return;
    finished_ = true;
    end_with(status);
  }
  void on_done() override {
    const std::lock_guard lock(health_.mutex_);
    if (at_) health_.watches_.erase(*at_);
  }

  HealthCalls& health_;
  grpc::ByteBuffer answer_;
  bool known_ = false;
  std::optional<ServingStatus> told_;
  bool writes_ = false, gone_ = false, finished_ = false;
  std::optional<std::list<Watch*>::iterator> at_;  // Once its message has come.
};

grpc::ServerGenericBidiReactor* HealthCalls::open(grpc::GenericCallbackServerContext& context) {
  static const std::string prefix = std::string("/") + kName + "/";
  if (context.method() == prefix + "Check") return new Check(*this, context);
  if (context.method() == prefix + "Watch") return new Watch(*this, context);
  return nullptr;
}

bool HealthCalls::serving() {
  const std::lock_guard lock(mutex_);
  return serving_;
}

void HealthCalls::set_serving(bool serving) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  serving_ = serving;
  tell_all();
}

void HealthCalls::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  serving_ = false;
  tell_all();
}

void HealthCalls::tell_all() {
  for (Watch* const watch : watches_) watch->tell();
}

}  // namespace bloomring
