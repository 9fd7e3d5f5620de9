#include "serving/mirror/mirror_server.h"

#include <catch2/catch.hpp>
#include <mutex>

#include "bloomring/v1/bloomring.grpc.pb.h"
#include "client/client.h"

using namespace bloomring;

namespace {

FilterCall question(const std::string& user, std::vector<std::string> items, bool strict = false) {
  FilterCall call;
  call.user = user;
  call.scene = "feed";
  call.items = std::move(items);
  call.strict = strict;
  return call;
}

std::unique_ptr<Client> client_of(const MirrorServer& server, int64_t deadline_ms = 10'000) {
  ClientOptions options;
  options.server = server.address();
  options.deadline_ms = deadline_ms;
  options.fail_open = false;
  return Client::connect(options);
}

struct Mirror {
  std::mutex mutex;
  std::vector<FilterCall> taken;
  int refused = 0;
  std::unique_ptr<MirrorServer> server;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::BloomringService::Stub> stub;

  Mirror() {
    MirrorServerConfig config;
    config.take = [this](FilterCall query) {
      const std::lock_guard lock(mutex);
      taken.push_back(std::move(query));
    };
    config.refused = [this] {
      const std::lock_guard lock(mutex);
      ++refused;
    };
    server = MirrorServer::start(std::move(config)).value();
    channel = grpc::CreateChannel(server->address(), grpc::InsecureChannelCredentials());
    stub = v1::BloomringService::NewStub(channel);
  }
};

}  // namespace

TEST_CASE("mirror server: it hands the query on and answers at once, incompletely, so nobody is misled") {
  Mirror mirror;
  const auto client = client_of(*mirror.server);
  const auto reply = client->filter(question("u1", {"v1", "v2", "v3"}));
  REQUIRE(reply.ok());
  CHECK_FALSE(reply->complete);
  REQUIRE(reply->gaps.size() == 1);
  REQUIRE(reply->items.size() == 3);
  for (const ItemVerdict& item : reply->items) CHECK_FALSE(item.seen);
  CHECK_FALSE(client->filter(question("u2", {"v1"}, true)).ok());
  REQUIRE(mirror.taken.size() == 2);
  CHECK(mirror.taken[0].items == std::vector<std::string>{"v1", "v2", "v3"});
  CHECK(mirror.taken[0].scene == "feed");
  CHECK(mirror.taken[1].user == "u2");
}

TEST_CASE("mirror server: of a batch each query is handed on, and one that is none is refused alone") {
  Mirror mirror;
  const auto client = client_of(*mirror.server);
  const auto replies = client->filter_batch({question("u1", {"v1"}), question("", {"v1"}), question("u3", {"v3"})});
  REQUIRE(replies.ok());
  REQUIRE(replies->size() == 3);
  CHECK((*replies)[0].ok());
  CHECK((*replies)[1].code() == Code::kBadRecord);
  CHECK((*replies)[2].ok());
  CHECK(mirror.taken.size() == 2);
  CHECK(mirror.refused == 1);
}

TEST_CASE("mirror server: calls that write change nothing, and after the stop nothing is taken") {
  Mirror mirror;
  grpc::ClientContext context;
  v1::ForgetRequest forget;
  forget.set_user("u1");
  forget.set_everything(true);
  v1::ForgetResponse response;
  CHECK(mirror.stub->Forget(&context, forget, &response).error_code() == grpc::StatusCode::UNIMPLEMENTED);
  mirror.server->stop();
  const auto client = client_of(*mirror.server, 1'000);
  CHECK(client->filter(question("u1", {"v1"})).code() == Code::kRetry);
  CHECK(mirror.taken.empty());
  MirrorServerConfig nowhere;
  nowhere.listen = "nowhere";
  CHECK(MirrorServer::start(std::move(nowhere)).code() == Code::kInvalid);
}
