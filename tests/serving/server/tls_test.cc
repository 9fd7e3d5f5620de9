// TLS and mutual TLS of the gRPC port, with certificates made for each test.
#include <catch2/catch.hpp>
#include <fstream>

#include "client/client.h"
#include "client/credentials.h"
#include "tests/support/certificates.h"
#include "tests/support/served_over_grpc.h"

using namespace bloomring;

namespace {

// True when the service answers a client with these files.
bool answers(const Served& served, const TlsClientFiles& files) {
  const auto client =
      Client::connect({.server = served.server->address(), .deadline_ms = 30'000, .fail_open = false, .tls = files});
  FilterCall call;
  call.user = "u1";
  call.items = {"v1"};
  const auto reply = client->filter(call);
  if (!reply.ok()) CHECK(reply.code() == Code::kRetry);
  return reply.ok();
}

GrpcServerConfig with(const TlsServerFiles& files) {
  GrpcServerConfig config;
  config.tls = files;
  return config;
}

}  // namespace

TEST_CASE("tls: who trusts the server's authority is answered, who trusts another or does not encrypt is not") {
  Certificates made;
  made.authority("ca");
  made.authority("other");
  made.signed_by("ca", "server");
  Served served(with(made.server("server")));
  CHECK(answers(served, made.client("ca")));
  CHECK_FALSE(answers(served, made.client("other")));
  CHECK_FALSE(answers(served, {}));
}

TEST_CASE("tls: with a CA for clients, only those that it vouches for are answered") {
  Certificates made;
  made.authority("ca");
  made.authority("clients");
  made.authority("strangers");
  made.signed_by("ca", "server");
  made.signed_by("clients", "friend");
  made.signed_by("strangers", "stranger");
  Served served(with(made.server("server", "clients")));
  CHECK(answers(served, made.client("ca", "friend")));
  CHECK_FALSE(answers(served, made.client("ca", "stranger")));
  CHECK_FALSE(answers(served, made.client("ca")));
  CHECK(answers(served, made.client("ca", "friend")));
}

TEST_CASE("tls: a client that asks for TLS does not talk to a server without") {
  Certificates made;
  made.authority("ca");
  Served served;
  CHECK_FALSE(answers(served, made.client("ca")));
}

namespace {

// The status of a call of each kind by a client with these files, in the order of the protocol: Filter, FilterBatch,
// GetSnapshot, RecordServed, Forget.
std::vector<grpc::StatusCode> codes(const Served& served, const TlsClientFiles& files) {
  const auto stub = v1::BloomringService::NewStub(
      grpc::CreateChannel(served.server->address(), channel_credentials(files)));
  std::vector<grpc::StatusCode> codes;
  const auto call = [&](auto method, auto request, auto response) {
    grpc::ClientContext context;
    context.set_deadline(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(30, GPR_TIMESPAN)));
    codes.push_back(((*stub).*method)(&context, request, &response).error_code());
  };
  using Stub = v1::BloomringService::Stub;
  v1::FilterRequest filter;
  filter.set_user("u1");
  v1::FilterBatchRequest batch;
  *batch.add_requests() = filter;
  v1::GetSnapshotRequest snapshot;
  snapshot.set_user("u1");
  v1::RecordServedRequest served_items;
  served_items.set_user("u1");
  v1::ForgetRequest forget;
  forget.set_user("u1");
  forget.set_everything(true);
  call(&Stub::Filter, filter, v1::FilterResponse());
  call(&Stub::FilterBatch, batch, v1::FilterBatchResponse());
  call(&Stub::GetSnapshot, snapshot, v1::GetSnapshotResponse());
  call(&Stub::RecordServed, served_items, v1::RecordServedResponse());
  call(&Stub::Forget, forget, v1::ForgetResponse());
  return codes;
}

}  // namespace

TEST_CASE("tls: with a list of who may call, a certificate makes only the calls that its names have a right to") {
  Certificates made;
  for (const char* authority : {"ca", "clients"}) made.authority(authority);
  made.signed_by("ca", "server");
  made.signed_by("clients", "reader", "DNS:reader.internal,IP:10.0.0.1");
  made.signed_by("clients", "writer", "URI:spiffe://site/writer");
  made.signed_by("clients", "old", "");
  made.signed_by("clients", "other", "DNS:old");       // Another one's common name as its own.
  made.signed_by("clients", "reader.internal", "DNS:stranger");  // A common name next to other names does not count.
  std::ofstream(made.file("access")) << "read reader.internal\nwrite spiffe://site/writer\nreplica old\n";
  const auto access = std::move(Access::open(made.file("access"))).value();
  GrpcServerConfig config = with(made.server("server", "clients"));
  config.service.access = access.get();
  Served served(config);
  const auto ok = grpc::StatusCode::OK, denied = grpc::StatusCode::PERMISSION_DENIED;
  using Codes = std::vector<grpc::StatusCode>;
  const Codes reads{ok, ok, ok, denied, denied}, writes{denied, denied, denied, ok, ok}, all{ok, ok, ok, ok, ok},
      none{denied, denied, denied, denied, denied};
  CHECK(codes(served, made.client("ca", "reader")) == reads);
  CHECK(codes(served, made.client("ca", "writer")) == writes);
  CHECK(codes(served, made.client("ca", "old")) == all);
  CHECK(codes(served, made.client("ca", "other")) == all);  // The list names it by its alternative name.
  CHECK(codes(served, made.client("ca", "reader.internal")) == none);
  CHECK(served.server->counters().refused_permission == 2 + 3 + 5);
  CHECK(served.server->counters().in_flight == 0);
}
