#include "cli/check/check_rights.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "base/words.h"
#include "pipeline/settings/client_settings.h"
#include "pipeline/topics/rights_check.h"

namespace bloomring::cli {
namespace {

using Rights = std::vector<KafkaRight>;
using Known = kafka::AclList::Known;

constexpr const char* kAsOperator =
    "run check as a user that may (Describe on the cluster), with --user naming the users to look at";

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string property(const std::map<std::string, std::string>& properties, const std::string& name) {
  const auto found = properties.find(name);
  return found == properties.end() ? "" : found->second;
}

// The rights that each user needs.
std::map<std::string, Rights> needs_of(const Settings& settings, const std::string& users, const std::string& own) {
  std::map<std::string, Rights> needs;
  for (const StageRow* stage : settings.stages) {
    Rights& rights = needs[users.empty() ? own : "User:" + user_of(users, stage->name)];
    std::ranges::move(rights_of(*stage, settings), std::back_inserter(rights));
  }
  // The right to see the ACLs, which this check asks for.
  if (users.empty()) needs[own].push_back({KafkaResource::kCluster, "kafka-cluster", {"Describe"}});
  return needs;
}

bool refused(const Status& status) { return status.message().find("uthorization failed") != std::string::npos; }

// A right that a call which changes nothing shows to be missing: one that includes Describe of a group, or
// DescribeConfigs.
std::vector<std::string> missing_by_trial(kafka::Admin& admin, const std::string& own, const Rights& needed,
                                          const std::string& bootstrap) {
  std::vector<std::string> missing;
  const auto lacks = [&](const KafkaRight& right, const std::string& operation) {
    missing.push_back(std::string(resource_name(right.resource)) + " " + right.name + ": " + own + " lacks the right " +
                      operation + "; grant it: " +
                      grant_command(bootstrap, own, {right.resource, right.name, {operation}}));
  };
  for (const KafkaRight& right : needed) {
    const bool configs = std::ranges::find(right.operations, "DescribeConfigs") != right.operations.end();
    if (right.resource == KafkaResource::kGroup && refused(admin.group_members(right.name).status()))
      lacks(right, right.operations.front());
    if (configs && refused(admin.config(right.name).status())) lacks(right, "DescribeConfigs");
  }
  return missing;
}

void compare(const std::string& principal, const Rights& needed, const kafka::AclList& list, const Settings& settings,
             bool own, CheckReport& report) {
  if (own && !may_see_acls(principal, list.acls)) {
    report.warnings.push_back("rights: the brokers let " + principal +
                              " see the ACLs though no ACL allows that, so it is one of super.users, or "
                              "allow.everyone.if.no.acl.found is true; run the stages as users with the rights of "
                              "`bloomring acls` alone");
    return;
  }
  const RightsFinding found = compare_rights(principal, needed, list.acls, settings.kafka.bootstrap);
  report.warnings.insert(report.warnings.end(), found.warnings.begin(), found.warnings.end());
  report.passes("rights of " + principal, found.errors.empty() ? Status() : invalid(joined(found.errors, "\n")));
}

std::string not_compared(const std::string& own, Known known) {
  std::string text = "rights: the brokers show " + (own.empty() ? "this user" : own) + " no ACL";
  if (known == Known::kNone) text += ": they have no authorizer, keep no ACL, or do not let it see any";
  return text + ", so the rights Read and Write, and rights beyond the least, were not compared; " + kAsOperator;
}

}  // namespace

std::string principal_of(const std::map<std::string, std::string>& properties) {
  const std::string protocol = upper(property(properties, "security.protocol"));
  if (protocol.empty() || protocol == "PLAINTEXT") return "User:ANONYMOUS";
  std::string mechanism = upper(property(properties, "sasl.mechanisms"));
  if (mechanism.empty()) mechanism = upper(property(properties, "sasl.mechanism"));
  const std::string name = property(properties, "sasl.username");
  const bool by_name = protocol.starts_with("SASL_") && (mechanism == "PLAIN" || mechanism.starts_with("SCRAM-"));
  return by_name && !name.empty() ? "User:" + name : "";
}

void check_rights(kafka::Admin& admin, const Settings& settings, const std::string& users, CheckReport& report) {
  const std::string own = principal_of(client_settings(settings).properties);
  if (users.empty() && own.empty()) {
    report.notes.push_back(std::string("rights: only the brokers know the user that they make of this login; ") +
                           kAsOperator);
    return;
  }
  const auto list = admin.acls();
  if (!list.ok() || list->known == Known::kNoAuthorizer) {
    report.notes.push_back(list.ok() ? "rights: the brokers have no authorizer, so every client may do everything"
                                     : "rights: they could not be asked for: " + list.status().message());
    return;
  }
  const auto needs = needs_of(settings, users, own);
  if (list->known == Known::kYes) {
    for (const auto& [principal, needed] : needs) compare(principal, needed, *list, settings, users.empty(), report);
    return;
  }
  report.notes.push_back(not_compared(own, list->known));
  if (!users.empty()) return;
  const auto missing = missing_by_trial(admin, own, needs.at(own), settings.kafka.bootstrap);
  report.succeeds(missing.empty() ? Status() : invalid(joined(missing, "\n")));
}

}  // namespace bloomring::cli
