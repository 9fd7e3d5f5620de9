// A stream of bytes on a connection of its own, for tests of what a server does with streams that never end.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>

namespace bloomring {

inline std::shared_ptr<grpc::Channel> connection_of_its_own(const std::string& address) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), own);
}

// A stream that sends one message, reads one, and then waits for its end.
class IdleStream final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  IdleStream(grpc::GenericStub& stub, const std::string& method, const std::string& message) {
    const grpc::Slice slice(message);
    sent_ = grpc::ByteBuffer(&slice, 1);
    stub.PrepareBidiStreamingCall(&context_, method, {}, this);
    StartWrite(&sent_);
    StartRead(&got_);
    StartCall();
  }
  IdleStream(const IdleStream&) = delete;
  ~IdleStream() override {
    context_.TryCancel();
    ended_.get_future().wait();
  }
  bool answered() const { return answered_; }
  bool ended() const { return over_; }
  grpc::StatusCode code() const { return code_; }

 private:
  void OnReadDone(bool ok) override {
    if (ok) {
      answered_ = true;
      StartRead(&got_);
    }
  }
  void OnDone(const grpc::Status& status) override {
    code_ = status.error_code();
    over_ = true;
    ended_.set_value();
  }

  grpc::ClientContext context_;
  grpc::ByteBuffer sent_, got_;
  std::atomic<bool> answered_{false}, over_{false};
  std::atomic<grpc::StatusCode> code_{grpc::StatusCode::OK};
  std::promise<void> ended_;
};

inline constexpr char kReflection[] = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
inline const std::string kListServices = std::string("\x3a\x00", 2);  // ServerReflectionRequest { list_services: "" }

}  // namespace bloomring
