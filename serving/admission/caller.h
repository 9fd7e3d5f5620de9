// The caller of a call, as its connection tells: a name where there is a list of names, else the host. All clients on a
// host are one caller, and so is another replica with all calls that it forwards.
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/scatter.h"

namespace bloomring {

// The names of the client's certificate by which `serve.access_file` knows it: its alternative names, or the common
// name of a certificate without any. None where the client shows no certificate that the port has verified.
std::vector<std::string> caller_names(const grpc::AuthContext& authenticated);

// For the log: "recommender.example.internal at ipv4:10.0.0.7:40112".
std::string caller_text(const grpc::ServerContextBase& context);

// gRPC's name of a peer without the port: "ipv4:10.0.0.7" of "ipv4:10.0.0.7:50312".
inline std::string_view host_of_peer(std::string_view peer) { return peer.substr(0, peer.rfind(':')); }

// The number of a caller in this process. Seeded, so that nobody can choose an address with another caller's number.
inline uint64_t caller_of_peer(std::string_view peer) { return hash_bytes(host_of_peer(peer), scatter(0)); }

}  // namespace bloomring
