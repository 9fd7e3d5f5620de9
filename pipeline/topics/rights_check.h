// Compares the rights in Kafka that a user has with those that its stages need, for `bloomring check`.
//
// By the rules of Kafka's authorizer: Read, Write, Delete and Alter include Describe; AlterConfigs includes
// DescribeConfigs; All includes everything; a denial beats every permission. An ACL for some hosts alone counts as one
// for all.
// Limits: super.users and allow.everyone.if.no.acl.found of the brokers are in no ACL.
// Threading: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/kafka/acl.h"
#include "pipeline/topics/kafka_rights.h"

namespace bloomring {

// Lines (base/config/finding.h).
struct RightsFinding {
  std::vector<std::string> errors;    // A right that is needed and that no ACL gives, with the command that grants it.
  std::vector<std::string> warnings;  // An ACL that gives more than is needed, with the command that removes it.
};

// `acls`: of all users. Those of others than `principal` ("User:NAME") and everybody are not looked at.
RightsFinding compare_rights(const std::string& principal, std::span<const KafkaRight> needed,
                             std::span<const kafka::Acl> acls, const std::string& bootstrap);

// Whether an ACL lets `principal` see the ACLs. One that sees them without has rights that are in no ACL.
bool may_see_acls(const std::string& principal, std::span<const kafka::Acl> acls);

}  // namespace bloomring
