#include "serving/service/all_scenes.h"

#include <algorithm>
#include <functional>

namespace bloomring {

namespace {

constexpr uint8_t kFilterCode = 16;  // schemas/bloomring/v1/bloomring.proto, FilterResponse.codes.

void add_gap(const std::string& reason, v1::FilterResponse& response) {
  v1::Gap& gap = *response.add_gaps();
  gap.set_source(v1::ANSWER_SOURCE_FILTERS);
  gap.set_reason(reason);
  response.set_complete(false);
}

std::string named(const std::string& scene) { return scene.empty() ? "no scene" : "scene " + scene; }

// The periods of all parts, newest first. Names sort in the order of periods.
std::vector<std::string> periods_of(const std::vector<ScenePart>& parts) {
  std::vector<std::string> periods;
  for (const ScenePart& part : parts) {
    if (part.status.ok()) periods.insert(periods.end(), part.response.periods().begin(), part.response.periods().end());
  }
  std::ranges::sort(periods, std::greater<>());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  return periods;
}

// The codes of a part, renumbered to the periods of all parts.
std::vector<uint8_t> codes_of(const v1::FilterResponse& part, const std::vector<std::string>& periods) {
  std::vector<uint8_t> meaning(256);
  for (uint8_t code = 0; code < kFilterCode; ++code) meaning[code] = code;
  for (int k = 0; k < part.periods_size(); ++k) {
    const auto at = std::ranges::find(periods, part.periods(k)) - periods.begin();
    meaning[static_cast<size_t>(kFilterCode + k)] = static_cast<uint8_t>(kFilterCode + at);
  }
  std::vector<uint8_t> codes;
  for (const char code : part.codes()) codes.push_back(meaning[static_cast<uint8_t>(code)]);
  return codes;
}

void take_part(const ScenePart& part, const std::vector<std::string>& periods, std::vector<uint8_t>& codes,
               v1::FilterResponse& response) {
  const std::string& scene = part.request.scene();
  response.add_scenes(scene);
  if (!part.status.ok()) return add_gap(named(scene) + ": " + part.status.error_message(), response);
  if (part.response.codes().size() != codes.size())
    return add_gap(named(scene) + ": the answer is for another number of candidates", response);
  const std::vector<uint8_t> found = codes_of(part.response, periods);
  for (size_t i = 0; i < codes.size(); ++i) {
    if (found[i] != 0 && (codes[i] == 0 || found[i] < codes[i])) codes[i] = found[i];
  }
  for (v1::Gap gap : part.response.gaps()) {
    gap.set_reason(named(scene) + ": " + gap.reason());
    *response.add_gaps() = std::move(gap);
    response.set_complete(false);
  }
  if (part.response.user_known()) {
    response.set_user_known(true);
    response.add_known_scenes(scene);
  }
  response.set_expected_error(std::min(1.0, response.expected_error() + part.response.expected_error()));
  response.set_saturated(response.saturated() || part.response.saturated());
}

void explain(const std::vector<uint8_t>& codes, v1::ExplainLevel wanted, v1::FilterResponse& response) {
  if (wanted == v1::EXPLAIN_LEVEL_CODES) response.set_codes(std::string(codes.begin(), codes.end()));
  if (wanted != v1::EXPLAIN_LEVEL_VERDICTS) return;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == 0) continue;
    v1::Verdict& verdict = *response.add_verdicts();
    verdict.set_candidate(static_cast<uint32_t>(i));
    verdict.set_seen(true);
    verdict.set_reason(static_cast<v1::SeenReason>(std::min<int>(codes[i], v1::SEEN_REASON_FILTER)));
    if (codes[i] >= kFilterCode) verdict.set_period(response.periods(codes[i] - kFilterCode));
  }
}

std::string describe(const v1::FilterResponse& response) {
  std::string text = "incomplete";
  for (const v1::Gap& gap : response.gaps()) text += "; " + gap.reason();
  return text;
}

}  // namespace

grpc::Status first_failure(const std::vector<grpc::Status>& statuses) {
  const auto failed = std::ranges::find_if(statuses, [](const grpc::Status& status) { return !status.ok(); });
  return failed == statuses.end() ? grpc::Status::OK : *failed;
}

grpc::Status unite_scenes(const v1::FilterRequest& request, size_t candidates, const std::vector<ScenePart>& parts,
                          const std::string& missing, v1::FilterResponse& response) {
  const bool none = std::ranges::none_of(parts, [](const ScenePart& part) { return part.status.ok(); });
  if (none && !parts.empty()) return parts.front().status;
  response.set_complete(true);
  const std::vector<std::string> periods = periods_of(parts);
  response.mutable_periods()->Add(periods.begin(), periods.end());
  std::vector<uint8_t> codes(candidates);
  for (const ScenePart& part : parts) take_part(part, periods, codes, response);
  if (!missing.empty()) add_gap(missing, response);
  std::string& seen = *response.mutable_seen();
  seen.assign((candidates + 7) / 8, '\0');
  for (size_t i = 0; i < candidates; ++i) {
    if (codes[i] != 0) seen[i / 8] = static_cast<char>(seen[i / 8] | 1 << (i % 8));
  }
  response.set_seen_count(static_cast<uint32_t>(std::ranges::count_if(codes, [](uint8_t code) { return code != 0; })));
  explain(codes, request.explain(), response);
  if (request.strict() && !response.complete())
    return {grpc::StatusCode::FAILED_PRECONDITION, describe(response)};
  return grpc::Status::OK;
}

}  // namespace bloomring
