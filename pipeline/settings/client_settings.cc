#include "pipeline/settings/client_settings.h"

namespace bloomring {

kafka::ClientSettings client_settings(const Settings& settings) {
  kafka::ClientSettings client;
  client.bootstrap = settings.kafka.bootstrap;
  client.properties = settings.kafka.properties;
  return client;
}

}  // namespace bloomring
