#include "serving/admission/placed_call.h"

#include "serving/admission/caller.h"

namespace bloomring {

namespace {
constexpr const char* kRetryMs = "100";
}  // namespace

PlacedCall::PlacedCall(CallPlaces& places, grpc::CallbackServerContext& context) : places_(places), context_(context) {
  if (entered()) StartRead(&message_);
}

PlacedCall::PlacedCall(CallPlaces& places, grpc::CallbackServerContext& context, const grpc::Status& status)
    : places_(places), context_(context) {
  if (entered()) end_with(status);
}

void PlacedCall::end_with(const grpc::Status& status, const grpc::ByteBuffer* answer) {
  places_.answered(*this);
  if (answer != nullptr && status.ok()) return StartWriteAndFinish(answer, {}, status);
  Finish(status);
}

bool PlacedCall::entered() {
  const CallPlaces::Entrance entrance = places_.enter(*this, caller_of_peer(context_.peer()));
  if (entrance == CallPlaces::Entrance::kPlace) return true;
  if (entrance == CallPlaces::Entrance::kFull) context_.TryCancel();
  context_.AddTrailingMetadata("grpc-retry-pushback-ms", kRetryMs);
  Finish({grpc::StatusCode::RESOURCE_EXHAUSTED,
          std::string("too many calls are open, most of them from this host; ask again after ") + kRetryMs +
              " ms, or ask another replica"});
  return false;
}

void PlacedCall::OnReadDone(bool came) {
  places_.spoke(*this);
  if (came) return on_message();
  end_with({grpc::StatusCode::INVALID_ARGUMENT, "the call ended before its message came"});
}

void PlacedCall::OnDone() {
  places_.leave(*this);
  on_done();
  delete this;
}

}  // namespace bloomring
