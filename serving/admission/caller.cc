#include "serving/admission/caller.h"

#include <grpc/grpc_security_constants.h>

#include "base/words.h"

namespace bloomring {

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
  const auto authenticated = context.auth_context();
  const std::string names = authenticated ? joined(caller_names(*authenticated)) : "";
  return (names.empty() ? "" : names + " at ") + context.peer();
}

}  // namespace bloomring
