#include "state/store/redis/redis_server_check.h"

#include <algorithm>
#include <utility>

namespace bloomring {

namespace {

// In the order of the questions.
enum Question : size_t { kMemory, kPersistence, kMemoryMax, kEviction, kAppendOnly, kSave, kQuestions };

// The value of "name:value" in a text of such lines, as INFO gives them.
std::optional<std::string> line_of(const RedisReply& info, const std::string& name) {
  const std::string text = "\n" + info.bytes, wanted = "\n" + name + ":";
  const size_t at = text.find(wanted);
  if (info.error() || at == std::string::npos) return std::nullopt;
  const size_t begin = at + wanted.size();
  return text.substr(begin, text.find_first_of("\r\n", begin) - begin);
}

// The value in a reply to CONFIG GET: a name and a value, or nothing for a setting that the server does not have.
std::optional<std::string> value_of(const RedisReply& config) {
  if (!config.is(RedisReply::Kind::kArray) || config.elements.size() != 2) return std::nullopt;
  return config.elements[1].bytes;
}

std::optional<std::string> unless_empty(std::optional<std::string> text) {
  return text && text->empty() ? std::nullopt : std::move(text);
}

std::optional<std::string> first_of(std::optional<std::string> one, std::optional<std::string> other) {
  return one ? std::move(one) : std::move(other);
}

std::optional<bool> is_on(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return *text == "yes" || *text == "1";
}

void judge_eviction(const std::string& server, const RedisServerSettings& settings, ServerFindings& findings) {
  if (!settings.eviction || *settings.eviction == "noeviction") return;
  const std::string remedy =
      "; set maxmemory-policy noeviction there (CONFIG SET, and in the server's configuration file): a full server "
      "then refuses writes, and merging waits";
  if (settings.memory_bytes_max && *settings.memory_bytes_max > 0) {
    findings.refusals.push_back(server + " removes filters when it is full (maxmemory " +
                                std::to_string(*settings.memory_bytes_max) + ", maxmemory-policy " +
                                *settings.eviction + "), and played items come back as unseen" + remedy);
    return;
  }
  findings.warnings.push_back(server + " would remove filters as soon as maxmemory bounds it (maxmemory-policy " +
                              *settings.eviction + ")" + remedy);
}

void judge_persistence(const std::string& server, const RedisServerSettings& settings, ServerFindings& findings) {
  if (settings.append_only != false || settings.snapshots != false) return;
  findings.warnings.push_back(
      server + " writes nothing to a disk (appendonly no, save \"\"): started again, it is empty and empties its "
               "replicas, and the log has only topics.retention_hours of it; set appendonly yes there");
}

void tell_unknown(const std::string& server, const RedisServerSettings& settings, ServerFindings& findings) {
  std::string unknown = settings.eviction ? "" : "maxmemory-policy";
  const bool durable = settings.append_only == true || settings.snapshots == true;
  const bool volatile_memory = settings.append_only == false && settings.snapshots == false;
  if (!durable && !volatile_memory) unknown += unknown.empty() ? "persistence" : " and persistence";
  if (unknown.empty()) return;
  findings.unknown.push_back(server + " does not tell its " + unknown +
                             (settings.refusal.empty() ? "" : " (" + settings.refusal + ")") +
                             "; see in its own manual that it evicts no keys, and keeps them when it starts again");
}

}  // namespace

RedisRequest server_settings_request(const RedisAddress& server) {
  RedisRequest request;
  append_redis_command(request.commands, {"INFO", "memory"});
  append_redis_command(request.commands, {"INFO", "persistence"});
  for (const std::string_view setting : {"maxmemory", "maxmemory-policy", "appendonly", "save"})
    append_redis_command(request.commands, {"CONFIG", "GET", setting});
  request.replies = kQuestions;
  request.server = server;
  request.fail_fast = true;
  return request;
}

RedisServerSettings parse_server_settings(const std::vector<RedisReply>& replies) {
  RedisServerSettings settings;
  if (replies.size() != kQuestions) return settings;
  if (const auto most = first_of(value_of(replies[kMemoryMax]), line_of(replies[kMemory], "maxmemory")))
    settings.memory_bytes_max = parse_redis_number<uint64_t>(*most);
  settings.eviction =
      unless_empty(first_of(value_of(replies[kEviction]), line_of(replies[kMemory], "maxmemory_policy")));
  settings.append_only =
      is_on(first_of(value_of(replies[kAppendOnly]), line_of(replies[kPersistence], "aof_enabled")));
  if (const auto save = value_of(replies[kSave])) settings.snapshots = !save->empty();
  // A disk KV may say "no" to settings that it does not have: then it has no policy either.
  if (!settings.eviction) settings.append_only = settings.snapshots = std::nullopt;
  // The questions are of two commands: the last refusal is that of CONFIG, where it is refused.
  for (const RedisReply& reply : replies)
    if (reply.error()) settings.refusal = reply.bytes.substr(0, reply.bytes.find_first_of("\r\n"));
  return settings;
}

void judge_server(const RedisAddress& server, const RedisServerSettings& settings, ServerFindings& findings) {
  const std::string name = "server " + server.text();
  judge_eviction(name, settings, findings);
  judge_persistence(name, settings, findings);
  tell_unknown(name, settings, findings);
}

Result<ServerFindings> check_redis_servers(const RedisStoreParts& parts, RedisClient& client) {
  const auto servers = client.servers();
  if (!servers.ok()) return Status(servers.status()).with_context(parts.name());
  std::vector<RedisRequest> requests;
  for (const RedisAddress& server : *servers) requests.push_back(server_settings_request(server));
  const std::vector<RedisAnswer> answers = client.call_all(std::move(requests));
  ServerFindings findings;
  for (size_t i = 0; i < answers.size(); ++i) {
    RedisServerSettings settings;
    if (answers[i].ok())
      settings = parse_server_settings(*answers[i]);
    else
      settings.refusal = answers[i].status().message();
    judge_server((*servers)[i], settings, findings);
  }
  return findings;
}

}  // namespace bloomring
