#include "pipeline/jobs/job_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::array<std::string_view, 5> kStates = {"running", "stopped", "failed", "done", "done_with_differences"};

// Reads the fields of one object; the first thing that is wrong stays.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  void take(const char* name, std::string& target) {
    if (const Json* found = find(name, &Json::is_string, "a string")) target = found->get<std::string>();
  }
  void take(const char* name, uint64_t& target) {
    if (const Json* found = find(name, &Json::is_number_unsigned, "a count")) target = found->get<uint64_t>();
  }
  void take(const char* name, int64_t& target) {
    if (const Json* found = find(name, &Json::is_number_integer, "an integer")) target = found->get<int64_t>();
  }
  void take(const char* name, double& target) {
    if (const Json* found = find(name, &Json::is_number, "a number")) target = found->get<double>();
  }
  const Json* list(const char* name) { return find(name, &Json::is_array, "a list"); }
  void refuse(std::string why) {
    if (wrong_.ok()) wrong_ = corrupt("a record of a job: " + std::move(why));
  }
  // Also refuses fields that nobody took.
  Status end() {
    for (const auto& [name, value] : json_.items()) {
      if (!taken_.contains(name)) refuse("field " + name + " is unknown");
    }
    return wrong_;
  }

 private:
  const Json* find(const char* name, bool (Json::*is)() const noexcept, const char* type) {
    taken_.insert(name);
    const auto found = json_.find(name);
    if (found == json_.end()) {
      refuse("field " + std::string(name) + " is missing");
    } else if (!((*found).*is)()) {
      refuse("field " + std::string(name) + " is not " + type);
    } else {
      return &*found;
    }
    return nullptr;
  }

  const Json& json_;
  std::set<std::string> taken_;
  Status wrong_;
};

Result<Json> parse(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt("a record of a job: it is no JSON object");
  const auto version = json.find("v");
  if (version == json.end() || !version->is_number_unsigned() || *version != kVersion)
    return corrupt("a record of a job: it is not of version " + std::to_string(kVersion));
  json.erase("v");
  return json;
}

void take_state(Fields& fields, JobState& state) {
  std::string word;
  fields.take("state", word);
  const auto found = std::ranges::find(kStates, word);
  if (found == kStates.end()) return fields.refuse("state " + word + " is unknown");
  state = static_cast<JobState>(found - kStates.begin());
}

void take_parameters(Fields& fields, JobParameters& parameters) {
  const Json* list = fields.list("parameters");
  if (list == nullptr) return;
  for (const Json& pair : *list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_string())
      return fields.refuse("a parameter is not a name and a value");
    parameters.push_back({pair[0].get<std::string>(), pair[1].get<std::string>()});
  }
}

void take_counts(Fields& fields, JobCounts& counts) {
  const Json* list = fields.list("counts");
  if (list == nullptr) return;
  if (list->size() > kJobCountsMax) return fields.refuse("it has too many counts");
  for (const Json& count : *list) {
    if (!count.is_array() || count.size() != 3 || !count[0].is_string() || !count[1].is_string() ||
        !count[2].is_number_unsigned())
      return fields.refuse("a count is not a name, a reason and a number");
    counts.push_back({count[0].get<std::string>(), count[1].get<std::string>(), count[2].get<uint64_t>()});
  }
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace

std::string_view job_state_name(JobState state) { return kStates[static_cast<size_t>(state)]; }

Status check_job_name(std::string_view name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_good = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  const bool good = !name.empty() && name.size() <= kJobNameBytesMax && is_letter(name.front()) &&
                    std::ranges::all_of(name, is_good);
  if (good) return {};
  return invalid("'" + std::string(name.substr(0, 80)) +
                 "' is no name of a job: it must begin with a lower case letter and have at most " +
                 std::to_string(kJobNameBytesMax) + " lower case letters, digits and dashes");
}

std::string encode_job_record(const JobRecord& record) {
  Json json = {{"v", kVersion},
               {"name", record.name},
               {"kind", record.kind},
               {"unit", record.unit},
               {"rate_unit", record.rate_unit},
               {"state", job_state_name(record.state)},
               {"run", record.run},
               {"started_ms", record.started_ms},
               {"updated_ms", record.updated_ms},
               {"rate", record.rate},
               {"share", record.share},
               {"slowed_by", record.slowed_by},
               {"done", record.progress.done},
               {"total", record.progress.total},
               {"error", record.error}};
  Json& parameters = json["parameters"] = Json::array();
  for (const JobParameter& parameter : record.parameters)
    parameters.push_back(Json::array({parameter.name, parameter.value}));
  Json& counts = json["counts"] = Json::array();
  for (const JobCount& count : record.counts) counts.push_back(Json::array({count.name, count.reason, count.value}));
  json["position"] = record.position;
  return dump(json);
}

Result<JobRecord> decode_job_record(std::string_view text) {
  BLOOMRING_TRY_ASSIGN(const Json json, parse(text));
  Fields fields(json);
  JobRecord record;
  fields.take("name", record.name);
  fields.take("kind", record.kind);
  fields.take("unit", record.unit);
  fields.take("rate_unit", record.rate_unit);
  take_state(fields, record.state);
  fields.take("run", record.run);
  fields.take("started_ms", record.started_ms);
  fields.take("updated_ms", record.updated_ms);
  fields.take("rate", record.rate);
  fields.take("share", record.share);
  fields.take("slowed_by", record.slowed_by);
  fields.take("done", record.progress.done);
  fields.take("total", record.progress.total);
  fields.take("error", record.error);
  take_parameters(fields, record.parameters);
  take_counts(fields, record.counts);
  fields.take("position", record.position);
  BLOOMRING_TRY(fields.end());
  const Status name = check_job_name(record.name);
  if (!name.ok()) return corrupt("a record of a job: " + name.message());
  return record;
}

std::string encode_job_rate(double rate) { return dump(Json{{"v", kVersion}, {"rate", rate}}); }

Result<double> decode_job_rate(std::string_view text) {
  BLOOMRING_TRY_ASSIGN(const Json json, parse(text));
  Fields fields(json);
  double rate = 0;
  fields.take("rate", rate);
  if (!(rate > 0) || !std::isfinite(rate)) fields.refuse("its rate is not more than 0");
  BLOOMRING_TRY(fields.end());
  return rate;
}

std::string job_key(std::string_view name) { return "job/" + std::string(name); }
std::string rate_key(std::string_view name) { return "rate/" + std::string(name); }

}  // namespace bloomring
