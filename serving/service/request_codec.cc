#include "serving/service/request_codec.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string>

#include "base/hash.h"
#include "base/words.h"

namespace bloomring {

namespace {

// EXPLAIN_CODES: the code of a candidate in the filter of periods[k] is this plus k.
constexpr int kFilterCode = 16;

std::string quantity(std::string_view field, uint64_t found, std::string_view unit, uint64_t most) {
  return std::string(field) + ": " + std::to_string(found) + " " + std::string(unit) + ", at most " +
         std::to_string(most) + " are allowed";
}

// True when no byte has its high bit set: then the bytes are valid UTF-8. Four times as fast as validating.
bool is_ascii(std::string_view bytes) {
  constexpr size_t kStride = 4 * sizeof(uint64_t);
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t any[4] = {};
  size_t i = 0;
  for (; i + kStride <= bytes.size(); i += kStride) {
    for (size_t w = 0; w < 4; ++w) {
      uint64_t word;
      std::memcpy(&word, bytes.data() + i + w * sizeof word, sizeof word);
      any[w] |= word;
    }
  }
  for (; i < bytes.size(); ++i) any[0] |= static_cast<uint8_t>(bytes[i]);
  return ((any[0] | any[1] | any[2] | any[3]) & kHighBits) == 0;
}

bool has_nul(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

bool is_text(std::string_view bytes) { return simdjson::validate_utf8(bytes.data(), bytes.size()) && !has_nul(bytes); }

bool has_id_size(std::string_view id) { return !id.empty() && id.size() <= kIdBytesMax; }

Status wrong_size(std::string_view id, std::string_view field) {
  if (id.empty()) return bad_record(std::string(field) + ": an id is empty");
  return bad_record(quantity(field, id.size(), "bytes in an id", kIdBytesMax));
}

Result<std::vector<ItemHash>> hash_text(const v1::Ids& ids, std::string_view field) {
  std::vector<ItemHash> hashes;
  hashes.reserve(static_cast<size_t>(ids.text_size()));
  for (const std::string& id : ids.text()) {
    if (!has_id_size(id)) return wrong_size(id, field);
    if (!is_text(id)) return bad_record(std::string(field) + ": an id is not UTF-8 or contains NUL");
    hashes.push_back(item_hash(id));
  }
  return hashes;
}

// An integer is its decimal string, as in plays (schemas/json/play_json.h).
std::vector<ItemHash> hash_integers(const v1::Ids& ids) {
  std::vector<ItemHash> hashes;
  hashes.reserve(static_cast<size_t>(ids.integers_size()));
  char digits[20];
  for (const int64_t id : ids.integers()) {
    const char* end = std::to_chars(digits, digits + sizeof digits, id).ptr;
    hashes.push_back(item_hash({digits, static_cast<size_t>(end - digits)}));
  }
  return hashes;
}

// Checks the ids one by one and names the first error.
Status check_packed(std::string_view rest, std::string_view lengths, std::string_view field) {
  for (const char size : lengths) {
    const auto length = static_cast<uint8_t>(size);
    if (length > rest.size()) return bad_record(std::string(field) + ".packed.lengths: the sum exceeds the bytes");
    const std::string_view id = rest.substr(0, length);
    if (!has_id_size(id)) return wrong_size(id, field);
    const bool mid_character = (static_cast<uint8_t>(id[0]) & 0xC0) == 0x80;
    if (mid_character) return bad_record(std::string(field) + ".packed.lengths: an id begins inside a character");
    rest.remove_prefix(length);
  }
  if (!rest.empty()) return bad_record(std::string(field) + ".packed.lengths: the sum falls short of the bytes");
  return {};
}

// True when each id has a legal size and the sizes add up to `bytes`. Without a branch for each id.
bool have_id_sizes(std::string_view lengths, size_t bytes) {
  uint64_t sum = 0;
  uint32_t wrong = 0;
  for (const char size : lengths) {
    const auto length = static_cast<uint8_t>(size);
    sum += length;
    wrong |= (length - 1u) & ~127u;  // Wraps for 0.
  }
  static_assert(kIdBytesMax == 128);
  return wrong == 0 && sum == bytes;
}

// True when each id begins at a character: a continuation byte is 10xxxxxx.
bool begin_with_characters(std::string_view bytes, std::string_view lengths) {
  const char* id = bytes.data();
  bool inside = false;
  for (const char length : lengths) {
    inside |= (static_cast<uint8_t>(*id) & 0xC0) == 0x80;
    id += static_cast<uint8_t>(length);
  }
  return !inside;
}

// The whole is valid UTF-8 and no id begins in the middle of a character, so each id is valid UTF-8.
Result<std::vector<ItemHash>> hash_packed(const v1::PackedIds& packed, std::string_view field) {
  const std::string_view bytes = packed.bytes();
  const bool ascii = is_ascii(bytes);
  if (has_nul(bytes) || (!ascii && !is_text(bytes))) {
    return bad_record(std::string(field) + ".packed.bytes: not UTF-8 or contains NUL");
  }
  const std::string_view lengths = packed.lengths();
  if (!have_id_sizes(lengths, bytes.size()) || (!ascii && !begin_with_characters(bytes, lengths))) {
    return check_packed(bytes, lengths, field);
  }
  std::vector<ItemHash> hashes(lengths.size());
  item_hashes(bytes, lengths, hashes.data());
  return hashes;
}

Status check_groups(const google::protobuf::RepeatedField<uint32_t>& ids_per_candidate, size_t ids) {
  uint64_t sum = 0;
  for (const uint32_t count : ids_per_candidate) {
    if (count == 0) return bad_record("ids_per_candidate: a candidate without an id");
    sum += count;
  }
  if (sum == ids) return {};
  return bad_record("ids_per_candidate: sums to " + std::to_string(sum) + ", but there are " + std::to_string(ids) +
                    " ids");
}

void encode_codes(const FilterAnswer& answer, v1::FilterResponse& response) {
  std::string& codes = *response.mutable_codes();
  codes.assign(answer.candidates, '\0');
  for (const auto& [candidate, verdict] : answer.verdicts) {
    const int code =
        verdict.reason == Reason::kFilter ? kFilterCode + verdict.period : static_cast<int>(verdict.reason);
    codes[candidate] = static_cast<char>(code);
  }
}

void encode_verdicts(const FilterAnswer& answer, v1::FilterResponse& response) {
  for (const auto& [candidate, verdict] : answer.verdicts) {
    v1::Verdict& out = *response.add_verdicts();
    out.set_candidate(candidate);
    out.set_seen(verdict.seen);
    out.set_reason(static_cast<v1::SeenReason>(verdict.reason));
    if (verdict.reason == Reason::kFilter) out.set_period(response.periods(verdict.period));
  }
}

}  // namespace

size_t id_count(const v1::Ids& ids) {
  return static_cast<size_t>(ids.text_size() + ids.integers_size()) + ids.packed().lengths().size();
}

Result<std::vector<ItemHash>> hash_ids(const v1::Ids& ids, std::string_view field, size_t ids_max) {
  const int forms = (ids.text_size() > 0) + (ids.integers_size() > 0) + (ids.has_packed() ? 1 : 0);
  if (forms > 1) return bad_record(std::string(field) + ": more than one of text, integers and packed is filled");
  if (id_count(ids) > ids_max) return bad_record(quantity(field, id_count(ids), "ids", ids_max));
  if (ids.has_packed()) return hash_packed(ids.packed(), field);
  return ids.integers_size() > 0 ? hash_integers(ids) : hash_text(ids, field);
}

namespace {

Status undeclared(std::string_view scene, const SceneRules& rules) {
  return bad_record("scene: " + (scene.empty() ? "is empty, which" : "'" + std::string(scene) + "'") +
                    " is none of events.scenes: " + joined_names(rules.declared));
}

}  // namespace

const SceneRules& any_scene(const SceneRules& rules) {
  static const SceneRules kAny{};
  return rules.declares() ? kAny : rules;
}

Result<UserKey> decode_user(std::string_view user, std::string_view scene, const SceneRules& rules) {
  if (!has_id_size(user)) return wrong_size(user, "user");
  if (scene.size() > kIdBytesMax) return bad_record(quantity("scene", scene.size(), "bytes", kIdBytesMax));
  if (!is_text(user)) return bad_record("user: not UTF-8 or contains NUL");
  if (!is_text(scene)) return bad_record("scene: not UTF-8 or contains NUL");
  if (!rules.part_filters) return UserKey("", user);
  if (scene == kClockScene) return bad_record("scene: '" + std::string(scene) + "' is a name of bloomring's own");
  const bool declared =
      rules.declared.empty() || std::ranges::find(rules.declared, scene) != rules.declared.end();
  return declared ? Result<UserKey>(UserKey(scene, user)) : undeclared(scene, rules);
}

Result<std::optional<ItemHash>> decode_forgotten_item(const v1::ForgetRequest& request) {
  switch (request.what_case()) {
    case v1::ForgetRequest::kItem:
      if (!has_id_size(request.item())) return wrong_size(request.item(), "item");
      if (!is_text(request.item())) return bad_record("item: an id is not UTF-8 or contains NUL");
      return std::optional(item_hash(request.item()));
    case v1::ForgetRequest::kEverything:
      if (!request.everything()) return bad_record("everything: is false; name an item, or set it to true");
      return std::optional<ItemHash>();
    default: return bad_record("what: neither an item nor everything is named");
  }
}

Result<DecodedFilter> decode(const v1::FilterRequest& request, const RequestLimits& limits) {
  DecodedFilter decoded;
  const SceneRules& rules = request.all_scenes() ? any_scene(limits.scenes) : limits.scenes;
  BLOOMRING_TRY_ASSIGN(decoded.user_key, decode_user(request.user(), request.scene(), rules));
  BLOOMRING_TRY_ASSIGN(decoded.ids, hash_ids(request.candidates(), "candidates", limits.candidates_max));
  BLOOMRING_TRY_ASSIGN(decoded.client_seen, hash_ids(request.client_seen(), "client_seen", limits.client_seen_max));
  if (request.ids_per_candidate_size() > 0) {
    BLOOMRING_TRY(check_groups(request.ids_per_candidate(), decoded.ids.size()));
    decoded.ids_per_candidate.assign(request.ids_per_candidate().begin(), request.ids_per_candidate().end());
  }
  decoded.min_keep = request.min_keep();
  BLOOMRING_TRY(check_bytes(request, limits));
  return decoded;
}

Status check_bytes(const google::protobuf::Message& message, const RequestLimits& limits) {
  const size_t bytes = message.ByteSizeLong();
  if (bytes <= limits.message_bytes_max) return {};
  return bad_record(quantity("message", bytes, "bytes", limits.message_bytes_max) +
                    "; ask about fewer items in a call, or send them packed");
}

Status check_request_count(size_t requests, const RequestLimits& limits) {
  if (requests <= limits.batch_max) return {};
  return bad_record(quantity("requests", requests, "requests", limits.batch_max) + "; send them in several calls");
}

Status check_cost(size_t bytes, size_t bytes_max) {
  if (bytes <= bytes_max) return {};
  return bad_record(quantity("message", bytes, "bytes of memory", bytes_max) +
                    "; ask about fewer items in a call, or send them packed");
}

Status check(const v1::FilterBatchRequest& batch, const RequestLimits& limits) {
  BLOOMRING_TRY(check_request_count(static_cast<size_t>(batch.requests_size()), limits));
  size_t candidates = 0, client_seen = 0;
  for (const auto& request : batch.requests()) {
    candidates += id_count(request.candidates());
    client_seen += id_count(request.client_seen());
  }
  const auto check_sum = [](std::string_view field, size_t ids, size_t most) {
    if (ids <= most) return Status();
    return bad_record(quantity(field, ids, "ids in all requests", most) + "; send the requests in several calls");
  };
  BLOOMRING_TRY(check_sum("candidates", candidates, std::max(limits.candidates_max, limits.batch_ids_max)));
  BLOOMRING_TRY(check_sum("client_seen", client_seen, std::max(limits.client_seen_max, limits.batch_ids_max)));
  return check_bytes(batch, limits);
}

v1::Gap encode(const Gap& gap) {
  v1::Gap out;
  out.set_source(static_cast<v1::AnswerSource>(gap.source));
  out.set_reason(gap.reason);
  out.set_lag_seconds(static_cast<double>(gap.lag_ms) / 1000);
  return out;
}

void encode(const FilterAnswer& answer, const Calendar& calendar, v1::ExplainLevel explain,
            v1::FilterResponse& response) {
  std::string& seen = *response.mutable_seen();
  seen.assign((answer.candidates + 7) / 8, '\0');
  for (const auto& [candidate, verdict] : answer.verdicts) {
    seen[candidate / 8] = static_cast<char>(seen[candidate / 8] | (verdict.seen ? 1 << (candidate % 8) : 0));
  }
  response.set_seen_count(static_cast<uint32_t>(answer.seen_count));
  response.set_complete(answer.complete());
  for (const Gap& gap : answer.gaps) *response.add_gaps() = encode(gap);
  response.set_user_known(answer.user_known);
  response.set_expected_error(answer.expected_error);
  response.set_saturated(answer.saturated);
  for (const PeriodIndex period : answer.periods) response.add_periods(calendar.name(period));
  for (const Relaxed& relaxed : answer.relaxed) {
    v1::Relaxed& out = *response.add_relaxed();
    out.set_source(static_cast<v1::AnswerSource>(relaxed.source));
    if (relaxed.source == AnswerSource::kFilters) out.set_period(calendar.name(relaxed.period));
  }
  if (explain == v1::EXPLAIN_LEVEL_CODES) encode_codes(answer, response);
  if (explain == v1::EXPLAIN_LEVEL_VERDICTS) encode_verdicts(answer, response);
}

}  // namespace bloomring
