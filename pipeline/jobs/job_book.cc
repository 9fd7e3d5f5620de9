#include "pipeline/jobs/job_book.h"

namespace bloomring {

namespace {

constexpr std::string_view kJob = "job/", kRate = "rate/";

}  // namespace

void JobBook::apply(std::string_view key, std::string_view value) {
  if (key.starts_with(kJob)) {
    const std::string name(key.substr(kJob.size()));
    if (value.empty()) {
      jobs_.erase(name);
      return;
    }
    auto record = decode_job_record(value);
    if (!record.ok()) return refuse(key, record.status());
    if (record->name != name) return refuse(key, corrupt("it is of job " + record->name));
    jobs_[name] = std::move(*record);
  } else if (key.starts_with(kRate)) {
    const std::string name(key.substr(kRate.size()));
    if (value.empty()) {
      rates_.erase(name);
      return;
    }
    const auto rate = decode_job_rate(value);
    if (!rate.ok()) return refuse(key, rate.status());
    rates_[name] = *rate;
  } else {
    refuse(key, corrupt("its key is neither that of a job nor that of a rate"));
  }
}

void JobBook::refuse(std::string_view key, const Status& status) {
  if (unreadable_++ == 0) first_unreadable_ = std::string(key.substr(0, 100)) + ": " + status.message();
}

const JobRecord* JobBook::find(std::string_view name) const {
  const auto found = jobs_.find(name);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::optional<double> JobBook::wished_rate(std::string_view name) const {
  const auto found = rates_.find(name);
  return found == rates_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace bloomring
