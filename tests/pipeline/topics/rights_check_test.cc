#include "pipeline/topics/rights_check.h"

#include <catch2/catch.hpp>

using namespace bloomring;
using kafka::Acl;

namespace {

const std::string kUser = "User:merge";

Acl allow(const std::string& resource, const std::string& name, const std::string& operation) {
  return {.resource = resource, .name = name, .principal = kUser, .host = "*", .operation = operation};
}

Acl with(Acl acl, auto change) {
  change(acl);
  return acl;
}

RightsFinding compare(const std::vector<Acl>& acls) {
  const std::vector<KafkaRight> needed = {{KafkaResource::kTopic, "batches", {"Read", "DescribeConfigs"}},
                                          {KafkaResource::kTopic, "events", {"Describe"}},
                                          {KafkaResource::kGroup, "site-merge", {"Read"}}};
  return compare_rights(kUser, needed, acls, "b:9092");
}

std::vector<Acl> least() {
  return {allow("topic", "batches", "Read"), allow("topic", "batches", "DescribeConfigs"),
          allow("topic", "events", "Describe"), allow("group", "site-merge", "Read")};
}

std::vector<Acl> least_and(const Acl& more) {
  std::vector<Acl> acls = least();
  acls.push_back(more);
  return acls;
}

}  // namespace

TEST_CASE("rights check: the least rights have no finding") {
  CHECK(compare(least()).errors.empty());
  CHECK(compare(least()).warnings.empty());
}

TEST_CASE("rights check: each missing right is an error with user, resource, operation and a command that grants it") {
  CHECK(compare({}).errors.size() == 4);
  std::vector<Acl> acls = least();
  acls.pop_back();
  CHECK(compare(acls).errors ==
        std::vector<std::string>{
            "group site-merge: User:merge lacks the right Read; grant it: kafka-acls.sh --bootstrap-server b:9092 "
            "--add --allow-principal 'User:merge' --operation Read --group 'site-merge'"});
}

TEST_CASE("rights check: rights beyond the least are warnings with the command that removes them") {
  const std::vector<std::pair<Acl, std::string>> cases = {
      {allow("cluster", "kafka-cluster", "Alter"), "cluster: User:merge has the right Alter"},
      {allow("topic", "batches", "Write"), "topic batches: User:merge has the right Write"},
      {allow("topic", "other", "Write"), "topic other: User:merge has the right Write"},
      {allow("topic", "*", "All"), "every topic: User:merge has the right All"},
      {allow("topic", "batches", "All"), "topic batches: User:merge has the right All"},
      {with(allow("topic", "batch", "Read"), [](Acl& acl) { acl.prefixed = true; }),
       "every topic that begins with batch: User:merge has the right Read"},
      {with(allow("topic", "events", "Write"), [](Acl& acl) { acl.principal = "User:*"; }),
       "topic events: User:* has the right Write"},
      {allow("", "t1", "Write"), "a resource of another kind, t1: User:merge has the right Write"},
  };
  for (const auto& [acl, text] : cases) {
    const RightsFinding found = compare(least_and(acl));
    CHECK(found.errors.empty());
    REQUIRE(found.warnings.size() == 1);
    CHECK(found.warnings.front().starts_with(text + ", which its stages do not need; remove "));
  }
  CHECK(compare(least_and(cases[0].first)).warnings.front().ends_with(
      "; remove it: kafka-acls.sh --bootstrap-server b:9092 --remove --allow-principal 'User:merge' --operation Alter "
      "--cluster"));
}

TEST_CASE("rights check: a right that another one includes, a prefix, or everybody's is a right") {
  std::vector<Acl> acls = {allow("topic", "batches", "AlterConfigs"), allow("topic", "*", "Read"),
                           with(allow("group", "site-", "All"), [](Acl& acl) { acl.prefixed = true; })};
  CHECK(compare(acls).errors.empty());
  for (Acl& acl : acls) acl.principal = "User:*";
  CHECK(compare(acls).errors.empty());
  for (Acl& acl : acls) acl.principal = "User:other";
  CHECK(compare(acls).errors.size() == 4);
  CHECK(compare(acls).warnings.empty());
}

TEST_CASE("rights check: a denial beats every permission") {
  const Acl denial = with(allow("topic", "*", "Read"), [](Acl& acl) { acl.allows = false; });
  const RightsFinding found = compare(least_and(denial));
  REQUIRE(found.errors.size() == 1);
  CHECK(found.errors.front().starts_with("topic batches: User:merge lacks the right Read, which an ACL denies; "));
  CHECK(compare(least_and(with(denial, [](Acl& acl) { acl.operation = "All"; }))).errors.size() == 3);
  CHECK(found.warnings.empty());
}

TEST_CASE("rights check: a user may see the ACLs by Describe on the cluster, or by a right that includes it") {
  CHECK_FALSE(may_see_acls(kUser, least()));
  CHECK(may_see_acls(kUser, least_and(allow("cluster", "kafka-cluster", "Describe"))));
  CHECK(may_see_acls(kUser, least_and(allow("cluster", "kafka-cluster", "Alter"))));
  CHECK_FALSE(may_see_acls(kUser, least_and(allow("cluster", "kafka-cluster", "Create"))));
}
