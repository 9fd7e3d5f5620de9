// The caller of a call, as its connection tells: the names of its certificate where it shows one, else its network: the
// address of IPv4, the first 64 bits of the address of IPv6, which a site hands out to one host as a whole. All clients
// of a host are one caller, and so is another replica with all calls that it forwards.
// Threading: pure functions.
#pragma once

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

// The names of the client's certificate by which `serve.access_file` knows it: its alternative names, or the common
// name of a certificate without any. None where the client shows no certificate that the port has verified.
std::vector<std::string> caller_names(const grpc::AuthContext& authenticated);

// For the log: "recommender.example.internal at ipv4:10.0.0.7:40112".
std::string caller_text(const grpc::ServerContextBase& context);

// The network in gRPC's name of a peer: "ipv4:10.0.0.7" of "ipv4:10.0.0.7:50312", and the first 8 bytes of the address
// of "ipv6:%5B2001:db8::7%5D:50312". A name of another form loses its port.
std::string network_of_peer(std::string_view peer);

// The number of a caller in this process. Seeded, so that nobody can choose an address with another caller's number.
uint64_t caller_of_peer(std::string_view peer);
// The same, by the names of the certificate where the port has verified one.
uint64_t caller_of(const grpc::ServerContextBase& context);

}  // namespace bloomring
