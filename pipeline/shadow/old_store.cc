#include "pipeline/shadow/old_store.h"

namespace bloomring {

namespace {

Status no_key(const FilterCall& call) {
  return bad_record("user " + call.user + " has no key in the old store" +
                    (call.scene.empty() ? " without a scene" : " in scene " + call.scene));
}

}  // namespace

Result<OldAnswer> OldStore::ask(const FilterCall& call) {
  std::vector<std::string> members;
  members.reserve(call.items.size());
  for (const std::string& item : call.items) members.push_back(layout_.member_of(item));
  return config_.filters ? ask_filters(call, members) : ask_sets(call, members);
}

Result<OldAnswer> OldStore::ask_sets(const FilterCall& call, const std::vector<std::string>& members) {
  const std::vector<std::string> keys = layout_.keys_of(call.scene, call.user);
  if (keys.empty()) return no_key(call);
  BLOOMRING_TRY_ASSIGN(const LegacySetAnswer found, lookup_.in_sets(keys, members, config_.cut_members > 0));
  OldAnswer answer;
  answer.cut = config_.cut_members > 0 && found.largest >= config_.cut_members;
  answer.verdicts.resize(members.size());
  const int64_t now_ms = clock_.now_ms();
  for (size_t i = 0; i < members.size(); ++i) {
    OldVerdict& verdict = answer.verdicts[i];
    verdict.seen = !found.scores[i].empty();
    if (!verdict.seen) continue;
    LegacyPlay play;
    verdict.refusal = layout_.read_member(members[i], found.scores[i], now_ms, play);
    if (verdict.refusal == LegacyRefusal::kNone) verdict.time_ms = play.time_ms;
  }
  return answer;
}

Result<OldAnswer> OldStore::ask_filters(const FilterCall& call, const std::vector<std::string>& members) {
  const std::vector<std::string> keys = layout_.filter_keys_of(call.scene, call.user);
  if (keys.empty()) return no_key(call);
  BLOOMRING_TRY_ASSIGN(const std::vector<bool> found, lookup_.in_filters(keys, members));
  OldAnswer answer;
  answer.verdicts.resize(members.size());
  for (size_t i = 0; i < members.size(); ++i) answer.verdicts[i].seen = found[i];
  return answer;
}

}  // namespace bloomring
