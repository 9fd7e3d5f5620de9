// The gRPC port: the query service, the standard health service and server reflection.
//
// Threading: thread safe. `shutdown` refuses new calls, lets those in flight finish within the grace and then cancels
// them; the destructor does the same without grace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "serving/candidate_filter.h"
#include "serving/filter_service.h"
#include "serving/held_partition.h"
#include "serving/tls_files.h"

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
  void shutdown(int64_t grace_ms);
  const ServingCounters& counters() const { return service_.counters(); }

 private:
  GrpcServer(const GrpcServerConfig& config, const PartitionDirectory& partitions, CandidateFilter& core,
             EventLog* log);
  Status listen();

  const GrpcServerConfig config_;
  FilterService service_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace bloomring
