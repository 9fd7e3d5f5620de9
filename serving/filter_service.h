// The calls of bloomring.v1.BloomringService, carried out against the partitions that this replica holds.
//
// Failure: expected failures become the status codes that schemas/bloomring.proto documents; a slow or failing filter
// store makes an answer incomplete instead. At most `in_flight_max` calls are worked on, what comes beyond them is
// refused at once, so memory stays flat under overload.
// Threading: gRPC calls the methods from its own threads.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "serving/candidate_filter.h"
#include "serving/counters.h"
#include "serving/held_partition.h"
#include "serving/request_codec.h"
#include "schemas/bloomring.grpc.pb.h"

namespace bloomring {

struct FilterServiceConfig {
  RequestLimits limits;
  int64_t in_flight_max = 256;  // Calls.
};

class FilterService final : public v1::BloomringService::CallbackService {
 public:
  FilterService(const PartitionDirectory& partitions, CandidateFilter& core, const FilterServiceConfig& config);

  grpc::ServerUnaryReactor* Filter(grpc::CallbackServerContext* context, const v1::FilterRequest* request,
                                   v1::FilterResponse* response) override;

  const ServingCounters& counters() const { return counters_; }

 private:
  grpc::Status filter(const grpc::CallbackServerContext& context, const v1::FilterRequest& request,
                      v1::FilterResponse& response);
  grpc::Status count(grpc::Status status);
  void count(const FilterAnswer& answer);

  const PartitionDirectory& partitions_;
  CandidateFilter& core_;
  const FilterServiceConfig config_;
  ServingCounters counters_;
};

}  // namespace bloomring
