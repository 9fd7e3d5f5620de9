// The settings of every client of pipeline/kafka.
//
// Guarantees: the configuration cannot change settings on which the pipeline's guarantees depend. Our values are
// defaults that `properties` may override, except those named in `check`, which are refused with the reason.
// Threading: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace bloomring::kafka {

struct ClientSettings {
  // Comma-separated host:port list (kafka.bootstrap).
  std::string bootstrap;
  // Appears in the broker's logs and quotas. At most 64 bytes: librdkafka 2.0.2 corrupts requests with long ones.
  std::string client_id = "bloomring";
  // The keys under kafka.properties, passed to librdkafka unchanged (TLS, SASL, timeouts). The same map serves
  // consumers and producers; a property of the other kind is ignored.
  std::map<std::string, std::string> properties{};

  // Consumer group; GroupConsumer only.
  std::string group{};
  // Static membership: a member that returns with the same id gets the same partitions, and a restart within
  // session.timeout.ms (30 s) moves none. Empty: a dynamic member, which leaves when it closes. Two live members must
  // not share one.
  std::string instance_id{};

  // Memory that one consumer may take for fetched, not yet read records over all partitions of its topics together.
  // Each partition gets an equal share. `queue_overhead` is the memory of a record divided by its payload: librdkafka
  // adds about 300 bytes to each, so 4 for plays of 100 bytes, 2 for small blocks.
  size_t queue_memory_bytes = size_t{512} << 20;
  size_t queue_overhead = 2;
  // The most partitions that the group is expected to give this member; 0: all. Further partitions get the same share
  // each.
  size_t queue_partitions_max = 0;
  // The least time between two commits of a group consumer, in milliseconds.
  int commit_interval_ms = 1000;

  // Memory that a producer may take for records that are not yet acknowledged, sent or not.
  size_t send_memory_bytes = size_t{256} << 20;
  // The largest record or batch that a producer sends, in bytes before compression: that of bloomring's own
  // topics (kMessageBytesMax of schemas/topics.h).
  size_t message_bytes_max = 1'000'000;
  // How long a record may wait for others to share its request, in milliseconds.
  int linger_ms = 5;
};

// How long a stopped group member surely keeps its partitions, in milliseconds: its session less the two heartbeats
// that may have been due (30 s less 2 x 3 s make 24 s).
int64_t standstill_max_ms(const ClientSettings& settings);

// kInvalid, naming the property and the reason, when the settings cannot work: an unknown property or a value that
// librdkafka refuses, a property that has a key of its own in our configuration, or one that would break a guarantee
// (automatic commits, cooperative assignment, acks below all, ...). Asks no broker.
Status check(const ClientSettings& settings);

}  // namespace bloomring::kafka
