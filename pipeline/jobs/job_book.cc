#include "pipeline/jobs/job_book.h"

#include <algorithm>

namespace bloomring {

namespace {

constexpr std::string_view kJob = "job/", kRate = "rate/";

}  // namespace

void JobBook::apply(std::string_view key, std::string_view value) {
  if (key.starts_with(kJob)) {
    const std::string name(key.substr(kJob.size()));
    if (value.empty()) {
      jobs_.erase(name);
      unreadable_jobs_.erase(name);
      return;
    }
    auto record = decode_job_record(value);
    if (!record.ok()) return refuse_job(name, key, record.status());
    if (record->name != name) return refuse_job(name, key, corrupt("it is of job " + record->name));
    note_run(name, record->run);
    unreadable_jobs_.erase(name);
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

void JobBook::refuse_job(const std::string& name, std::string_view key, const Status& status) {
  unreadable_jobs_[name] = status.message();
  refuse(key, status);
}

void JobBook::note_run(const std::string& name, const std::string& run) {
  if (has_begun(name, run)) return;
  std::deque<std::string>& runs = runs_[name];
  runs.push_back(run);
  if (runs.size() > kRunsMax) runs.pop_front();
}

Status JobBook::check_readable(std::string_view name) const {
  const auto found = unreadable_jobs_.find(name);
  if (found == unreadable_jobs_.end()) return {};
  return invalid("the record of job " + std::string(name) + " cannot be read: " + found->second +
                 ". Go on with the version of bloomring that wrote it, take another --name, or remove it with "
                 "`bloomring jobs remove " + std::string(name) + "`");
}

std::string_view JobBook::last_run(std::string_view name) const {
  const auto found = runs_.find(name);
  return found == runs_.end() ? std::string_view() : std::string_view(found->second.back());
}

bool JobBook::has_begun(std::string_view name, std::string_view run) const {
  const auto found = runs_.find(name);
  return found != runs_.end() && std::ranges::find(found->second, run) != found->second.end();
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
