#include "pipeline/settings/keys/port_keys.h"

#include "pipeline/settings/keys/value_rules.h"

namespace bloomring {
namespace {

void declare_bounds(Config& config, ServeSettings& serve) {
  config.integer("serve.candidates_max", &serve.candidates_max)
      .range(1, 1000000)
      .doc("Most candidates of one user in a query, alone or in a batch. A query with more is refused.");
  config.integer("serve.batch_ids_max", &serve.batch_ids_max)
      .range(1, 10000000)
      .doc(
          "Most candidates in a batch (`FilterBatch`), of all its users together. A batch with more is refused. "
          "Where `serve.candidates_max` is larger, it is the bound.");
  config.bytes("serve.request_bytes_max", &serve.request_bytes_max)
      .range(1 << 20, 256 << 20)
      .doc(
          "Most bytes of a request. A larger one is refused with INVALID_ARGUMENT. One of more than four times as "
          "many bytes, or of more than the memory for calls (which `check` prints), is refused with "
          "RESOURCE_EXHAUSTED. The default holds 20,000 ids of 128 bytes in each list of a query, and 200,000 ids "
          "of 40 bytes in a batch.");
  config.integer("serve.wait_ms", &serve.wait_ms)
      .range(0, 5000)
      .unit("milliseconds")
      .doc(
          "Longest time that a call waits for room when too many users are being answered, or the memory for requests "
          "is taken. It never waits beyond nine tenths of its deadline. Callers get equal turns, so one that asks "
          "without end does not keep others out. Then it is refused with RESOURCE_EXHAUSTED. 0: it is refused at "
          "once.");
}

void declare_tls(Config& config, ServeSettings& serve) {
  config.string("serve.tls_certificate", &serve.tls.certificate)
      .doc(
          "PEM file with the certificate chain of the gRPC port. The process reads it again when it changes. Empty: "
          "the port is not encrypted.");
  config.string("serve.tls_key", &serve.tls.key).doc("PEM file with the private key of `serve.tls_certificate`.");
  config.string("serve.tls_client_ca", &serve.tls.client_ca)
      .doc(
          "PEM file with the certificate authorities of clients. Only a client whose certificate one of them has "
          "signed is answered. Empty: every client is answered.");
  config.string("serve.tls_peer_ca", &serve.tls_peer_ca)
      .doc(
          "PEM file with the certificate authorities of the other replicas, to which this one passes calls on. "
          "Empty: `serve.tls_client_ca`. This replica shows them `serve.tls_certificate`.");
}

}  // namespace

void declare_serve(Config& config, ServeSettings& serve) {
  config.section("serve", "The query service.");
  config.string("serve.listen", &serve.listen)
      .check(must_be_address)
      .doc(
          "Address of the gRPC service; port 0 takes a free one. An address that other machines reach needs TLS, or "
          "`serve.insecure`.");
  config.boolean("serve.insecure", &serve.insecure)
      .doc(
          "`true`: the gRPC port may listen without TLS on an address that other machines reach. Everybody who reaches "
          "it can then read, and erase, the history of every user.");
  config.string("serve.access_file", &serve.access_file)
      .doc(
          "File that lists which client certificates may make which calls (see `docs/security.md`). The process reads "
          "it again when it changes. Needs `serve.tls_client_ca`. Empty: every client may make every call.");
  config.integer("serve.replica_index", &serve.replica_index)
      .range(0, 9999)
      .or_word(std::string(kOrdinal))
      .doc(
          "Index of this replica, from 0. `ordinal`: the number at the end of the pod's name in `HOSTNAME`, as pods of "
          "a StatefulSet have it.");
  config.integer("serve.replica_count", &serve.replica_count).range(1, 10000).doc("Number of serve replicas.");
  config.integer("serve.replication_factor", &serve.replication_factor)
      .range(1, 10000)
      .doc("Number of replicas that hold each partition. At most `serve.replica_count`.");
  config.list("serve.peers", &serve.peers)
      .check(must_not_be_empty)
      .doc(
          "Addresses of the replicas. A replica passes calls on to them about partitions that it does not hold. One "
          "address for each replica, in the order of their indices, or one pattern with `{index}`, as "
          "`replica-{index}.internal:7700`. Empty: such calls are refused.");
  declare_bounds(config, serve);
  config.boolean("serve.reflection", &serve.reflection)
      .doc(
          "Server reflection on the gRPC port: tools as grpcurl then need no file. Each of its streams holds a thread, "
          "at most 64 in all, so it is for ports that only trusted clients reach.");
  config.integer("serve.drain_seconds", &serve.drain_seconds)
      .range(0, 300)
      .unit("seconds")
      .doc(
          "Time after SIGTERM for which calls are still answered, while /readyz and the health service already send "
          "clients elsewhere. Set it to the time that clients and load balancers need to notice. Must be less than "
          "`process.stop_seconds`.");
  declare_tls(config, serve);
}

void declare_canary(Config& config, CanarySettings& canary) {
  config.section("canary",
                 "Plays of users that do not exist, which a process with the serve stage sends and then asks for, to "
                 "measure the whole way of a play. Ids that begin with `bloomring-canary-` are reserved for it.");
  config.integer("canary.interval_seconds", &canary.interval_seconds)
      .range(0, 86400)
      .unit("seconds")
      .doc(
          "Time between two plays of the canary of this process. They go round the partitions that this replica holds. "
          "0: no canary. The process then needs the right to write to the first topic of `topics.plays`.");
  config.integer("canary.timeout_seconds", &canary.timeout_seconds)
      .range(1, 3600)
      .unit("seconds")
      .doc("Time in which a play of the canary must be seen. After it, the play counts as lost, and the log names it.");
  config.string("canary.server", &canary.server)
      .check(must_be_address_or_empty)
      .doc(
          "Address of the query service that the canary asks, as `host:port`. Empty: the gRPC port of this process. "
          "Where that port has TLS, a name that its certificate has; the canary then shows `serve.tls_certificate` and "
          "trusts `serve.tls_peer_ca`.");
}

void declare_admin(Config& config, AdminSettings& admin) {
  config.section("admin",
                 "The port for metrics, health and actions. Everybody who reaches it can read its pages; an "
                 "action needs the token.");
  config.string("admin.listen", &admin.listen)
      .check(must_be_address)
      .doc(
          "Address of /metrics, /healthz, /readyz, /status and of the actions; port 0 takes a free one. Monitoring on "
          "another machine needs an address that it reaches.");
  config.string("admin.health_listen", &admin.health_listen)
      .check(must_be_address_or_empty)
      .doc(
          "Address of a second port with /healthz and /readyz alone, for probes of a supervisor: slow clients of "
          "`admin.listen` do not delay them. Empty: no such port.");
  config.string("admin.token_file", &admin.token_file)
      .doc(
          "File with the token that an action must carry, as `Authorization: Bearer TOKEN`. Its first line counts, of "
          "at least 16 characters. Empty: the process that writes the filter store makes a token at its start, in "
          "`admin.token` under `store.path`, which only its own user may read.");
  config.list("admin.hosts", &admin.hosts)
      .check(must_be_host_name)
      .doc(
          "Names by which the ports of this section may be asked, as `bloomring.internal`: a request whose Host header "
          "has another name is refused with 403, so that no page in a browser reads them through a name of its own. "
          "Addresses, `localhost` and the name of this host are always allowed.");
}

}  // namespace bloomring
