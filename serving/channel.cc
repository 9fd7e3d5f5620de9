#include "serving/channel.h"

#include "serving/credentials.h"

namespace bloomring {

std::shared_ptr<grpc::Channel> open_channel(const ChannelOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetLoadBalancingPolicyName("round_robin");
  // One that was away for a while is asked again soon after it has come back, not after up to two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);  // How long one attempt may take: busy servers are slow.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1'000);
  if (options.own_connection) arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(options.server, channel_credentials(options.tls), arguments);
}

}  // namespace bloomring
