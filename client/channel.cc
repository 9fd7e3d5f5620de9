#include "client/channel.h"

#include "client/credentials.h"

namespace bloomring {

namespace {

void set_keepalive(const ConnectionOptions& options, grpc::ChannelArguments& arguments) {
  if (options.keepalive_ms == 0) return;
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(options.keepalive_ms));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(options.keepalive_timeout_ms));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);  // Without a bound of their own.
}

}  // namespace

std::shared_ptr<grpc::Channel> open_channel(const ChannelOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetLoadBalancingPolicyName("round_robin");
  // Reconnects soon after a server is back; gRPC's default may wait two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // The time for one attempt: busy servers are slow.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, static_cast<int>(options.connection.connect_timeout_ms));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  arguments.SetMaxReceiveMessageSize(options.connection.answer_bytes_max);
  set_keepalive(options.connection, arguments);
  if (options.own_connection) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(options.server, channel_credentials(options.tls), arguments);
}

}  // namespace bloomring
