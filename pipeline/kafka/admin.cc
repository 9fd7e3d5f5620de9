#include "pipeline/kafka/admin.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pipeline/kafka/client.h"
#include "pipeline/kafka/lookup.h"

namespace bloomring::kafka {
namespace {

using OptionsHandle = std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using NewTopicHandle = std::unique_ptr<rd_kafka_NewTopic_t, Destroy<rd_kafka_NewTopic_destroy>>;
using DeleteRecordsHandle = std::unique_ptr<rd_kafka_DeleteRecords_t, Destroy<rd_kafka_DeleteRecords_destroy>>;
using AclFilterHandle = std::unique_ptr<rd_kafka_AclBindingFilter_t, Destroy<rd_kafka_AclBinding_destroy>>;
using ResourceHandle = std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;

Result<NewTopicHandle> make_topic(const NewTopic& topic) {
  char why[512] = "";
  NewTopicHandle made(rd_kafka_NewTopic_new(topic.name.c_str(), topic.partitions, topic.replication, why, sizeof why));
  if (!made) return invalid("topic " + topic.name + ": " + why);
  for (const auto& [name, value] : topic.config) {
    const auto error = rd_kafka_NewTopic_set_config(made.get(), name.c_str(), value.c_str());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return invalid("topic " + topic.name + ": " + name);
  }
  return made;
}

// All refusals in one message, so that one run shows them all.
Status refusals(std::span<const rd_kafka_topic_result_t* const> results) {
  std::string message;
  for (const auto* result : results) {
    if (rd_kafka_topic_result_error(result) == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const char* why = rd_kafka_topic_result_error_string(result);
    message += (message.empty() ? "topic " : "; topic ") + std::string(rd_kafka_topic_result_name(result)) + ": ";
    message += why != nullptr ? why : rd_kafka_err2str(rd_kafka_topic_result_error(result));
  }
  return message.empty() ? Status() : invalid(message);
}

std::map<std::string, std::string> to_map(const rd_kafka_ConfigResource_t& resource) {
  std::map<std::string, std::string> config;
  size_t count = 0;
  const auto* const* entries = rd_kafka_ConfigResource_configs(&resource, &count);
  for (const auto* entry : std::span(entries, count)) {
    const char* value = rd_kafka_ConfigEntry_value(entry);  // NULL when it is sensitive.
    config.emplace(rd_kafka_ConfigEntry_name(entry), value != nullptr ? value : "");
  }
  return config;
}

// By Kafka's own names: DESCRIBE_CONFIGS is "DescribeConfigs".
std::string operation_name(rd_kafka_AclOperation_t operation) {
  std::string name;
  bool begins = true;
  for (const char c : std::string_view(rd_kafka_AclOperation_name(operation))) {
    if (c != '_') name += begins ? c : static_cast<char>(c | 0x20);
    begins = c == '_';
  }
  return name;
}

const char* resource_name(rd_kafka_ResourceType_t type) {
  switch (type) {
    case RD_KAFKA_RESOURCE_TOPIC: return "topic";
    case RD_KAFKA_RESOURCE_GROUP: return "group";
    case RD_KAFKA_RESOURCE_BROKER: return "cluster";  // Among ACLs it has that number.
    default: return "";
  }
}

Acl to_acl(const rd_kafka_AclBinding_t* found) {
  return {.resource = resource_name(rd_kafka_AclBinding_restype(found)),
          .name = rd_kafka_AclBinding_name(found),
          .prefixed = rd_kafka_AclBinding_resource_pattern_type(found) == RD_KAFKA_RESOURCE_PATTERN_PREFIXED,
          .principal = rd_kafka_AclBinding_principal(found),
          .host = rd_kafka_AclBinding_host(found),
          .operation = operation_name(rd_kafka_AclBinding_operation(found)),
          .allows = rd_kafka_AclBinding_permission_type(found) == RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW};
}

AclFilterHandle all_acls() {
  return AclFilterHandle(rd_kafka_AclBindingFilter_new(
      RD_KAFKA_RESOURCE_ANY, nullptr, RD_KAFKA_RESOURCE_PATTERN_ANY, nullptr, nullptr, RD_KAFKA_ACL_OPERATION_ANY,
      RD_KAFKA_ACL_PERMISSION_TYPE_ANY, nullptr, 0));
}

}  // namespace

class Admin::Core {
 public:
  Core(std::string bootstrap, ClientHandle client)
      : bootstrap_(std::move(bootstrap)), client_(std::move(client)), answers_(rd_kafka_queue_new(client_.get())) {}

  rd_kafka_t* client() { return client_.get(); }
  const std::string& bootstrap() const { return bootstrap_; }

  OptionsHandle options(rd_kafka_admin_op_t op, int timeout_ms) {
    OptionsHandle made(rd_kafka_AdminOptions_new(client_.get(), op));
    char why[256] = "";
    rd_kafka_AdminOptions_set_request_timeout(made.get(), timeout_ms, why, sizeof why);
    return made;
  }

  // Sends the request with `question(queue)` and waits for its answer, slightly longer than the request may take. The
  // answer may be an error.
  Result<EventHandle> ask_for_any(int timeout_ms, auto question) {
    question(answers_.get());
    EventHandle answer(rd_kafka_queue_poll(answers_.get(), timeout_ms + 2000));
    if (!answer) return retry(no_answer(bootstrap_, timeout_ms));
    return answer;
  }

  // The same, where the answer of an error is a failure.
  Result<EventHandle> ask(int timeout_ms, auto question) {
    BLOOMRING_TRY_ASSIGN(EventHandle answer, ask_for_any(timeout_ms, question));
    const auto error = rd_kafka_event_error(answer.get());
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return lookup_failure(error, bootstrap_, timeout_ms);
    return answer;
  }

 private:
  const std::string bootstrap_;
  ClientHandle client_;
  QueueHandle answers_;
};

Result<std::unique_ptr<Admin>> Admin::create(const ClientSettings& settings) {
  BLOOMRING_TRY_ASSIGN(ConfHandle conf, producer_conf(settings));
  BLOOMRING_TRY_ASSIGN(ClientHandle client, make_client(std::move(conf), RD_KAFKA_PRODUCER));
  return std::unique_ptr<Admin>(new Admin(std::make_unique<Core>(settings.bootstrap, std::move(client))));
}

Admin::Admin(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Admin::~Admin() = default;

Result<std::vector<TopicDescription>> Admin::describe(std::span<const std::string> names, int timeout_ms,
                                                      int slow_timeout_ms) {
  return describe_topics(core_->client(), core_->bootstrap(), names, timeout_ms, slow_timeout_ms);
}

Result<std::vector<std::string>> Admin::topic_names(int timeout_ms) {
  return list_topics(core_->client(), core_->bootstrap(), timeout_ms);
}

Result<std::map<std::string, std::string>> Admin::config(const std::string& topic, int timeout_ms) {
  const auto options = core_->options(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_ms);
  const ResourceHandle resource(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
  BLOOMRING_TRY_ASSIGN(const EventHandle answer, core_->ask(timeout_ms, [&](rd_kafka_queue_t* queue) {
    std::array asked{resource.get()};
    rd_kafka_DescribeConfigs(core_->client(), asked.data(), asked.size(), options.get(), queue);
  }));
  size_t count = 0;
  const auto* const* resources =
      rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(answer.get()), &count);
  if (count != 1) return fatal("the broker described " + std::to_string(count) + " topics instead of " + topic);
  const auto error = rd_kafka_ConfigResource_error(resources[0]);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return lookup_failure(error, core_->bootstrap(), timeout_ms).with_context("topic " + topic);
  }
  return to_map(*resources[0]);
}

Status Admin::create_topics(std::span<const NewTopic> topics, int timeout_ms) {
  if (topics.empty()) return {};
  std::vector<NewTopicHandle> owned;
  std::vector<rd_kafka_NewTopic_t*> asked;
  for (const auto& topic : topics) {
    BLOOMRING_TRY_ASSIGN(owned.emplace_back(), make_topic(topic));
    asked.push_back(owned.back().get());
  }
  const auto options = core_->options(RD_KAFKA_ADMIN_OP_CREATETOPICS, timeout_ms);
  BLOOMRING_TRY_ASSIGN(const EventHandle answer, core_->ask(timeout_ms, [&](rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(core_->client(), asked.data(), asked.size(), options.get(), queue);
  }));
  size_t count = 0;
  const auto* const* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(answer.get()), &count);
  return refusals(std::span(results, count));
}

Result<size_t> Admin::group_members(const std::string& group, int timeout_ms) {
  const auto options = core_->options(RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout_ms);
  BLOOMRING_TRY_ASSIGN(const EventHandle answer, core_->ask(timeout_ms, [&](rd_kafka_queue_t* queue) {
    std::array asked{group.c_str()};
    rd_kafka_DescribeConsumerGroups(core_->client(), asked.data(), asked.size(), options.get(), queue);
  }));
  size_t count = 0;
  const auto* const* groups =
      rd_kafka_DescribeConsumerGroups_result_groups(rd_kafka_event_DescribeConsumerGroups_result(answer.get()), &count);
  if (count != 1) return fatal("the broker described " + std::to_string(count) + " groups instead of " + group);
  const auto* failure = rd_kafka_ConsumerGroupDescription_error(groups[0]);
  const auto error = failure != nullptr ? rd_kafka_error_code(failure) : RD_KAFKA_RESP_ERR_NO_ERROR;
  if (error == RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND) return size_t{0};
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return lookup_failure(error, core_->bootstrap(), timeout_ms).with_context("group " + group);
  return rd_kafka_ConsumerGroupDescription_member_count(groups[0]);
}

Result<AclList> Admin::acls(int timeout_ms) {
  const auto options = core_->options(RD_KAFKA_ADMIN_OP_DESCRIBEACLS, timeout_ms);
  const AclFilterHandle filter = all_acls();
  BLOOMRING_TRY_ASSIGN(const EventHandle answer, core_->ask_for_any(timeout_ms, [&](rd_kafka_queue_t* queue) {
    rd_kafka_DescribeAcls(core_->client(), filter.get(), options.get(), queue);
  }));
  switch (const auto error = rd_kafka_event_error(answer.get())) {
    case RD_KAFKA_RESP_ERR_NO_ERROR: break;
    case RD_KAFKA_RESP_ERR_SECURITY_DISABLED: return AclList{AclList::Known::kNoAuthorizer};
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED: return AclList{AclList::Known::kNotAllowed};
    default: return lookup_failure(error, core_->bootstrap(), timeout_ms).with_context("ACLs");
  }
  size_t count = 0;
  const auto* const* found =
      rd_kafka_DescribeAcls_result_acls(rd_kafka_event_DescribeAcls_result(answer.get()), &count);
  AclList list{count > 0 ? AclList::Known::kYes : AclList::Known::kNone};
  std::ranges::transform(std::span(found, count), std::back_inserter(list.acls), to_acl);
  return list;
}

Status Admin::delete_records(std::span<const Below> records, int timeout_ms) {
  const PartitionListHandle below(rd_kafka_topic_partition_list_new(static_cast<int>(records.size())));
  for (const Below& one : records) {
    const TopicPartition& at = one.partition;
    rd_kafka_topic_partition_list_add(below.get(), at.topic.c_str(), at.partition.value)->offset = one.offset.value;
  }
  const DeleteRecordsHandle request(rd_kafka_DeleteRecords_new(below.get()));
  const auto options = core_->options(RD_KAFKA_ADMIN_OP_DELETERECORDS, timeout_ms);
  BLOOMRING_TRY_ASSIGN(const EventHandle answer, core_->ask(timeout_ms, [&](rd_kafka_queue_t* queue) {
    std::array asked{request.get()};
    rd_kafka_DeleteRecords(core_->client(), asked.data(), asked.size(), options.get(), queue);
  }));
  const auto* done = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(answer.get()));
  for (const rd_kafka_topic_partition_t& one : std::span(done->elems, static_cast<size_t>(done->cnt))) {
    if (one.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    return lookup_failure(one.err, core_->bootstrap(), timeout_ms)
        .with_context(to_string(TopicPartition{one.topic, PartitionId(one.partition)}));
  }
  return {};
}

}  // namespace bloomring::kafka
