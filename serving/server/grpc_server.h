// The gRPC port: the query service, the standard health service and, where it is asked for, server reflection.
//
//   start --> set_serving(true) --> (calls) --> announce_end --> (calls, a while longer) --> shutdown
//
// Guarantees: no call ends as CANCELLED because the server ends. A call that began before `shutdown` and can be
// answered within its grace gets its answer; any other call gets UNAVAILABLE.
// Threading: thread safe, but `shutdown` belongs to one thread. The destructor shuts down without grace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/tls_files.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/replica_partition.h"
#include "serving/server/acceptor.h"
#include "serving/server/call_door.h"
#include "serving/server/health_calls.h"
#include "serving/service/filter_service.h"

namespace bloomring {

struct GrpcServerConfig {
  std::string listen = "127.0.0.1:0";  // "host:port"; with port 0 the system chooses one.
  TlsServerFiles tls = {};
  bool reflection = false;  // Once on, it is on for all servers of the process.
  // For connections and messages in transit. At the bound the server drops new connections and closes idle ones. A
  // connection takes 20 to 25 KB.
  size_t memory_bytes_max = 64 << 20;
  size_t connections_max() const { return memory_bytes_max / 2 / (24 << 10); }
  // Open calls of all connections; gRPC holds 19 KB of each besides its messages. For a memory: as many as connections.
  size_t calls_max = 2'048;
  // The least time between two pings of an idle connection. The server disconnects a client that pings more often.
  int64_t ping_interval_min_ms = 10'000;
  int64_t connection_age_max_ms = 300'000;  // Then clients reconnect, perhaps to other replicas.
  int64_t connection_grace_ms = 30'000;     // Then the calls and streams of an aged connection are ended.
  int64_t connection_idle_max_ms = 120'000;
  int streams_max = 256;  // Calls at once of one connection; further ones wait at the client.
  // Threads for calls that hold one while they last: those of server reflection.
  int threads_max = 64;
  FilterServiceConfig service = {};
};

class GrpcServer {
 public:
  // kInvalid when it cannot listen on the address or a file of `tls` is wrong. Arguments passed by reference or
  // pointer outlive the server, and `core` the appends to `log`, too. Calls that write return UNIMPLEMENTED without a
  // log.
  static Result<std::unique_ptr<GrpcServer>> start(const GrpcServerConfig& config, const PartitionDirectory& partitions,
                                                   CandidateFilter& core, EventLog* log = nullptr);
  ~GrpcServer();

  // "host:port" with the port that was chosen.
  const std::string& address() const { return address_; }
  // The answer to health checks; false at the start.
  void set_serving(bool serving);
  // From now on health checks always get NOT_SERVING; calls are answered as before.
  void announce_end();
  // Refuses new calls, waits at most `grace_ms` for those in flight, and hangs up (serving/server/hang_up.h).
  void shutdown(int64_t grace_ms);
  const ServingCounters& counters() const { return service_.counters(); }
  uint64_t reads_refused() const { return service_.reads_refused(); }
  const ConnectionCounters& connections() const { return acceptor_->counters(); }
  const CallPlaceCounters& places() const { return places_.counters(); }

 private:
  GrpcServer(const GrpcServerConfig& config, const PartitionDirectory& partitions, CandidateFilter& core,
             EventLog* log);
  Status listen();
  void give(int listener, int connection);

  const GrpcServerConfig config_;
  CallPlaces places_;
  FilterService service_;
  HealthCalls health_;
  CallDoor door_;
  std::vector<std::unique_ptr<grpc::Service>> listed_;  // For reflection.
  std::string address_;
  bool ended_ = false;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;  // Takes ours to the server.
  std::unique_ptr<Acceptor> acceptor_;                                           // Its thread uses the rest.
};

}  // namespace bloomring
