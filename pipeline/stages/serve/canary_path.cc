#include "pipeline/stages/serve/canary_path.h"

#include <utility>

#include "base/config/listen_address.h"
#include "base/hash.h"

namespace bloomring {

namespace {
constexpr int64_t kDeadlineMs = 1'000;
}  // namespace

std::unique_ptr<Client> canary_client(const std::string& server, const TlsClientFiles& tls) {
  const auto address = parse_listen_address(server);
  return Client::connect({.server = address.ok() ? address->reachable().to_string() : server,
                          .deadline_ms = kDeadlineMs,
                          .fail_open = false,
                          .tls = tls});
}

ServiceCanaryPath::ServiceCanaryPath(std::string topic, const PlayMapping& mapping, kafka::Producer& producer,
                                     std::unique_ptr<Client> client)
    : topic_(std::move(topic)), template_(mapping), producer_(producer), client_(std::move(client)) {}

void ServiceCanaryPath::play(const std::string& user, const std::string& item, int64_t time_ms,
                             std::function<void(const Status&)> written) {
  const Result<int32_t> partitions = producer_.partitions_of(topic_);
  if (!partitions.ok()) return written(partitions.status());
  OutRecord record;
  record.topic = topic_;
  record.partition = PartitionId(static_cast<int32_t>(hash_bytes(item, 0) % static_cast<uint64_t>(*partitions)));
  record.key = user;
  record.value = template_.play(user, item, time_ms);
  producer_.write(record,
                  [told = std::move(written)](const Result<kafka::WrittenPlace>& place) { told(place.status()); });
}

Result<bool> ServiceCanaryPath::is_recent(const std::string& user, const std::string& item) {
  FilterCall call;
  call.user = user;
  call.scene = template_.scene();
  call.items = {item};
  BLOOMRING_TRY_ASSIGN(const FilterReply reply, client_->filter(call));
  return reply.items.front().reason == Reason::kRecent;
}

}  // namespace bloomring
