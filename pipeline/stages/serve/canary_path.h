// The way of the canary's plays (pipeline/canary/canary.h) in a running installation: in by the topic of plays, in the
// site's form, and out by a call to the gRPC service, as a recommender makes it.
//
// Threading: one thread; it waits for brokers when it first writes, and for each answer, each for a bounded time.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/client.h"
#include "client/tls_files.h"
#include "load/play_template.h"
#include "pipeline/canary/canary.h"
#include "pipeline/kafka/producer/producer.h"
#include "schemas/json/play_json.h"

namespace bloomring {

// A client of the service at "host:port"; the wildcard means loopback.
std::unique_ptr<Client> canary_client(const std::string& server, const TlsClientFiles& tls);

class ServiceCanaryPath final : public CanaryPath {
 public:
  // `producer` outlives it.
  ServiceCanaryPath(std::string topic, const PlayMapping& mapping, kafka::Producer& producer,
                    std::unique_ptr<Client> client);

  // The scene of its plays: the first that the site declares, and none where scenes need no declaration.
  const std::string& scene() const { return template_.scene(); }

  // Spreads the plays over the partitions of the topic.
  void play(const std::string& user, const std::string& item, int64_t time_ms,
            std::function<void(const Status&)> written) override;
  Result<bool> is_recent(const std::string& user, const std::string& item) override;

 private:
  const std::string topic_;
  const PlayTemplate template_;
  kafka::Producer& producer_;
  const std::unique_ptr<Client> client_;
};

}  // namespace bloomring
