// Calls about all scenes of a user: a call about each, and one answer.
#include <atomic>
#include <memory>

#include "serving/service/all_scenes.h"
#include "serving/service/call_parts.h"
#include "serving/service/filter_service.h"
#include "serving/service/service_status.h"

namespace bloomring {

AllScenes FilterService::all_scenes() const {
  return config_.limits.scenes.part_filters ? partitions_.scenes() : AllScenes{{""}, ""};
}

// A call about all scenes, and its outcomes so far. Shared by its parts.
struct FilterService::ScenesCall {
  const v1::FilterRequest& request;
  v1::FilterResponse& response;
  Decoded decoded;
  Done done;
  std::string missing;
  std::vector<ScenePart> parts;
  std::atomic<size_t> left;
  std::vector<CallMemory::Share> shares = {};  // Of the parts that are passed on.
};

void FilterService::filter_all_scenes(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                                      const Decoded& decoded, Done done, v1::FilterResponse& response) {
  if (!request.scene().empty())
    return done(to_grpc(bad_record("scene: is '" + request.scene() + "', and all_scenes is set; use one of both")));
  if (request.min_keep() > 0)
    return done(to_grpc(bad_record("min_keep: is set, and so is all_scenes; min_keep works in one scene only")));
  AllScenes scenes = all_scenes();
  std::vector<ScenePart> parts(scenes.names.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    v1::FilterRequest& part = parts[i].request;
    part.set_user(request.user());
    part.set_scene(scenes.names[i]);
    part.set_all_scenes(true);
    part.set_explain(v1::EXPLAIN_LEVEL_CODES);
    part.set_forward_policy(request.forward_policy());
  }
  const size_t count = parts.size();
  const std::shared_ptr<ScenesCall> call(new ScenesCall{request, response, decoded, std::move(done),
                                                        std::move(scenes.missing), std::move(parts), count + 1});
  for (size_t i = 0; i <= count; ++i) ask_scene(context, call, i);
}

// The call itself counts as one more part, so it does not end before all parts are asked.
void FilterService::ask_scene(const grpc::CallbackServerContext& context, const std::shared_ptr<ScenesCall>& call,
                              size_t part) {
  auto ended = [this, call, part](grpc::Status status) {
    if (part < call->parts.size()) call->parts[part].status = std::move(status);
    if (call->left.fetch_sub(1) > 1) return;
    call->shares.clear();
    const grpc::Status united =
        unite_scenes(call->request, call->decoded->candidates(), call->parts, call->missing, call->response);
    if (united.ok()) count_known(call->response.complete(), call->response.user_known());
    call->done(united);
  };
  if (part == call->parts.size()) return ended(grpc::Status::OK);
  auto& [request, response, status] = call->parts[part];
  const UserKey user_key(request.scene(), request.user());
  const auto partition = find_ready(partitions_, user_key);
  if (partition.ok())
    return filter_here(context, request, call->decoded, user_key, *partition, std::move(ended), response);
  // A copy, and its bytes on the way: the call was admitted for one request.
  auto share = gate_.memory().take(call->request.SpaceUsedLong() + call->request.ByteSizeLong());
  if (!share) return ended({grpc::StatusCode::RESOURCE_EXHAUSTED, "the memory for requests is taken by others"});
  call->shares.push_back(std::move(*share));
  *request.mutable_candidates() = call->request.candidates();
  *request.mutable_ids_per_candidate() = call->request.ids_per_candidate();
  *request.mutable_client_seen() = call->request.client_seen();
  filter_there(context, request, user_key, partition.status(), std::move(ended), response);
}

namespace {

// A forget in each scene, and its outcomes. Shared by them.
struct ForgetScenes {
  std::function<void(grpc::Status)> done;
  std::vector<v1::ForgetRequest> requests;
  std::vector<v1::ForgetResponse> responses;
  std::vector<grpc::Status> statuses;
  std::atomic<size_t> left;
};

}  // namespace

void FilterService::forget_in_all_scenes(const grpc::CallbackServerContext& context, const v1::ForgetRequest& request,
                                         Done done) {
  if (!request.scene().empty())
    return done(to_grpc(bad_record("scene: is '" + request.scene() + "', and all_scenes is set; use one of both")));
  const AllScenes scenes = all_scenes();
  if (!scenes.missing.empty()) {
    return done({grpc::StatusCode::FAILED_PRECONDITION,
                 "not all scenes are known: " + scenes.missing + "; name the scene, or declare all in events.scenes"});
  }
  const size_t count = scenes.names.size();
  if (count == 0) return done(grpc::Status::OK);
  // Its copies would take more than the call was admitted for: none is made of what is refused or unknown.
  const Status sound = user_of(request, config_.limits).status();
  if (!sound.ok()) return done(to_grpc(sound));
  if (const auto item = decode_forgotten_item(request); !item.ok()) return done(to_grpc(item.status()));
  v1::ForgetRequest known = request;
  known.DiscardUnknownFields();
  const std::shared_ptr<ForgetScenes> call(new ForgetScenes{
      std::move(done), std::vector<v1::ForgetRequest>(count, known), std::vector<v1::ForgetResponse>(count),
      std::vector<grpc::Status>(count), count});
  for (size_t i = 0; i < count; ++i) call->requests[i].set_scene(scenes.names[i]);
  for (size_t i = 0; i < count; ++i) {
    auto ended = [call, i](grpc::Status status) {
      call->statuses[i] = std::move(status);
      if (call->left.fetch_sub(1) == 1) call->done(first_failure(call->statuses));
    };
    forget_in_scene(context, call->requests[i], std::move(ended), call->responses[i]);
  }
}

}  // namespace bloomring
