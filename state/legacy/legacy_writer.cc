#include "state/legacy/legacy_writer.h"

#include "state/legacy/legacy_request.h"

namespace bloomring {

Status LegacyWriter::add(const std::string& key, std::string_view member, std::string_view score) {
  gathered_[key].emplace_back(score, member);
  return ++members_ < kGatheredMax ? Status() : flush();
}

Status LegacyWriter::call_all(std::vector<RedisRequest> requests, std::string_view what) {
  for (const RedisRequest& request : requests) bytes_ += request.commands.size();
  for (const RedisAnswer& answer : client_.call_all(std::move(requests))) {
    BLOOMRING_TRY(answer.status());
    if (answer->front().error()) return redis_failure(answer->front(), what, client_.config().names);
  }
  return {};
}

Status LegacyWriter::flush() {
  std::vector<RedisRequest> requests;
  for (const auto& [key, members] : gathered_) {
    RedisCommand command(2 + 2 * members.size());
    command.add("ZADD").add(key);
    for (const auto& [score, member] : members) command.add(score).add(member);
    requests.push_back(legacy_request(key, std::move(command).take()));
  }
  gathered_.clear();
  members_ = 0;
  return call_all(std::move(requests), "ZADD");
}

Status LegacyWriter::cut(const std::vector<std::string>& keys, uint64_t newest) {
  const std::string last = std::to_string(-static_cast<int64_t>(newest) - 1);
  std::vector<RedisRequest> requests;
  for (const std::string& key : keys) {
    std::string command;
    append_redis_command(command, {"ZREMRANGEBYRANK", key, "0", last});
    requests.push_back(legacy_request(key, std::move(command)));
  }
  return call_all(std::move(requests), "ZREMRANGEBYRANK");
}

}  // namespace bloomring
