// The gRPC port: the query service, the standard health service and server reflection.
//
//   start --> set_serving(true) --> (calls) --> announce_end --> (calls, a while longer) --> shutdown
//
// Guarantee: no call ends as CANCELLED because the server ends: one that began before `shutdown` and can be answered
// within its grace gets its answer, any other one UNAVAILABLE.
// Threading: thread safe, but `shutdown` belongs to one thread. The destructor shuts down without grace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "client/tls_files.h"
#include "serving/query/candidate_filter.h"
#include "serving/query/held_partition.h"
#include "serving/service/filter_service.h"

namespace bloomring {

struct GrpcServerConfig {
  std::string listen = "127.0.0.1:0";  // "host:port"; port 0 is one that the system chooses.
  TlsServerFiles tls = {};
  bool reflection = true;
  // Of connections and of messages on their way. At the bound new connections are dropped and idle ones closed; a
  // connection takes some 25 KB.
  size_t memory_bytes_max = 64 << 20;
  // A client may ping a quiet connection as often; one that pings more often is cut off.
  int64_t ping_interval_min_ms = 10'000;
  int64_t connection_age_max_ms = 300'000;  // Clients come back to a possibly new set of replicas.
  FilterServiceConfig service = {};
};

class GrpcServer {
 public:
  // kInvalid when the address cannot be listened on or a file of `tls` is not right. What is passed by reference or
  // pointer outlives the server. Without a log the calls that write are UNIMPLEMENTED.
  static Result<std::unique_ptr<GrpcServer>> start(const GrpcServerConfig& config, const PartitionDirectory& partitions,
                                                   CandidateFilter& core, EventLog* log = nullptr);
  ~GrpcServer();

  // "host:port" with the port that was chosen.
  const std::string& address() const { return address_; }
  // What health checks are told; false at start.
  void set_serving(bool serving);
  // Health checks are told NOT_SERVING from now on, for good; calls are answered as before.
  void announce_end();
  // Refuses new calls, waits at most `grace_ms` for those in flight, and hangs up (serving/server/hang_up.h).
  void shutdown(int64_t grace_ms);
  const ServingCounters& counters() const { return service_.counters(); }

 private:
  GrpcServer(const GrpcServerConfig& config, const PartitionDirectory& partitions, CandidateFilter& core,
             EventLog* log);
  Status listen();

  const GrpcServerConfig config_;
  FilterService service_;
  std::string address_;
  uint16_t port_ = 0;
  bool ended_ = false;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace bloomring
