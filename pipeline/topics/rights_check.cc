#include "pipeline/topics/rights_check.h"

#include <algorithm>

namespace bloomring {

namespace {

using kafka::Acl;

bool is_of(const Acl& acl, const std::string& principal) {
  return acl.principal == principal || acl.principal == "User:*";
}

bool covers(const Acl& acl, std::string_view resource, std::string_view name) {
  if (acl.resource != resource) return false;
  return acl.name == "*" || (acl.prefixed ? name.starts_with(acl.name) : name == acl.name);
}

bool includes(std::string_view given, std::string_view operation) {
  if (given == operation || given == "All") return true;
  if (operation == "DescribeConfigs") return given == "AlterConfigs";
  return operation == "Describe" && (given == "Read" || given == "Write" || given == "Delete" || given == "Alter");
}

bool denied(std::span<const Acl> acls, const std::string& principal, std::string_view resource, std::string_view name,
            std::string_view operation) {
  return std::ranges::any_of(acls, [&](const Acl& acl) {
    return !acl.allows && is_of(acl, principal) && covers(acl, resource, name) &&
           (acl.operation == operation || acl.operation == "All");
  });
}

bool allowed(std::span<const Acl> acls, const std::string& principal, std::string_view resource, std::string_view name,
             std::string_view operation) {
  if (denied(acls, principal, resource, name, operation)) return false;
  return std::ranges::any_of(acls, [&](const Acl& acl) {
    return acl.allows && is_of(acl, principal) && covers(acl, resource, name) && includes(acl.operation, operation);
  });
}

// Of the least set, or a part of it.
bool needed_by(std::span<const KafkaRight> needed, const Acl& acl) {
  if (acl.prefixed || acl.operation == "All") return false;
  return std::ranges::any_of(needed, [&](const KafkaRight& right) {
    return covers(acl, resource_name(right.resource), right.name) && acl.name == right.name &&
           std::ranges::any_of(right.operations,
                               [&](const auto& operation) { return includes(operation, acl.operation); });
  });
}

std::string flags_of(const Acl& acl) {
  if (acl.resource == "cluster") return " --cluster";
  return " --" + acl.resource + " '" + acl.name + "'" + (acl.prefixed ? " --resource-pattern-type prefixed" : "");
}

std::string place_of(const Acl& acl) {
  if (acl.resource == "cluster") return "cluster";
  if (acl.resource.empty()) return "a resource of another kind, " + acl.name;
  if (acl.name == "*") return "every " + acl.resource;
  return (acl.prefixed ? "every " + acl.resource + " that begins with " : acl.resource + " ") + acl.name;
}

std::string excess(const Acl& acl, const std::string& bootstrap) {
  const std::string reason = place_of(acl) + ": " + acl.principal + " has the right " + acl.operation +
                             ", which its stages do not need";
  if (acl.resource.empty()) return reason + "; remove the ACL";
  std::string host = acl.host == "*" ? "" : " --allow-host " + acl.host;
  return reason + "; remove it: kafka-acls.sh --bootstrap-server " + bootstrap + " --remove --allow-principal '" +
         acl.principal + "'" + host + " --operation " + acl.operation + flags_of(acl);
}

}  // namespace

RightsFinding compare_rights(const std::string& principal, std::span<const KafkaRight> needed,
                             std::span<const Acl> acls, const std::string& bootstrap) {
  RightsFinding found;
  for (const KafkaRight& right : needed) {
    const std::string resource(resource_name(right.resource));
    for (const std::string& operation : right.operations) {
      if (allowed(acls, principal, resource, right.name, operation)) continue;
      const KafkaRight missing{right.resource, right.name, {operation}};
      found.errors.push_back(resource + " " + right.name + ": " + principal + " lacks the right " + operation +
                             (denied(acls, principal, resource, right.name, operation)
                                  ? ", which an ACL denies; remove that ACL, and grant the right: "
                                  : "; grant it: ") +
                             grant_command(bootstrap, principal, missing));
    }
  }
  for (const Acl& acl : acls)
    if (acl.allows && is_of(acl, principal) && !needed_by(needed, acl))
      found.warnings.push_back(excess(acl, bootstrap));
  return found;
}

bool may_see_acls(const std::string& principal, std::span<const Acl> acls) {
  return allowed(acls, principal, "cluster", "kafka-cluster", "Describe");
}

}  // namespace bloomring
