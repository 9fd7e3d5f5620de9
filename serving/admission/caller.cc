#include "serving/admission/caller.h"

#include <arpa/inet.h>
#include <grpc/grpc_security_constants.h>

#include "base/hash.h"
#include "base/scatter.h"
#include "base/words.h"

namespace bloomring {

namespace {

std::string joined_names(const grpc::ServerContextBase& context) {
  const auto authenticated = context.auth_context();
  return authenticated ? joined(caller_names(*authenticated)) : "";
}

}  // namespace

std::vector<std::string> caller_names(const grpc::AuthContext& authenticated) {
  std::vector<std::string> names;
  if (!authenticated.IsPeerAuthenticated()) return names;
  for (const char* property : {GRPC_X509_SAN_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    for (const grpc::string_ref& value : authenticated.FindPropertyValues(property)) {
      names.emplace_back(value.data(), value.size());
    }
    if (!names.empty()) break;
  }
  return names;
}

std::string caller_text(const grpc::ServerContextBase& context) {
  const std::string names = joined_names(context);
  return (names.empty() ? "" : names + " at ") + context.peer();
}

std::string network_of_peer(std::string_view peer) {
  constexpr std::string_view kIpv6 = "ipv6:%5B", kEnd = "%5D";
  const std::string_view host = peer.substr(0, peer.rfind(':'));
  if (!host.starts_with(kIpv6) || !host.ends_with(kEnd)) return std::string(host);
  std::string_view address = host.substr(kIpv6.size());
  address.remove_suffix(kEnd.size());
  in6_addr parsed{};
  // A "%25eth0" names the interface of an address that only this link knows.
  if (::inet_pton(AF_INET6, std::string(address.substr(0, address.find('%'))).c_str(), &parsed) != 1)
    return std::string(host);
  const char* const bytes = reinterpret_cast<const char*>(parsed.s6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&parsed)) return "ipv6:" + std::string(bytes, sizeof parsed.s6_addr);
  return "ipv6:" + std::string(bytes, 8);
}

uint64_t caller_of_peer(std::string_view peer) { return hash_bytes(network_of_peer(peer), scatter(0)); }

uint64_t caller_of(const grpc::ServerContextBase& context) {
  const std::string names = joined_names(context);
  return names.empty() ? caller_of_peer(context.peer()) : hash_bytes("certificate:" + names, scatter(0));
}

}  // namespace bloomring
