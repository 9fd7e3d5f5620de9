#include "pipeline/runtime/health.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bloomring {

void Health::set_ready(const std::string& part, const std::string& note) { set(part, State::kReady, note); }
void Health::set_not_ready(const std::string& part, const std::string& reason) { set(part, State::kNotReady, reason); }
void Health::set_failed(const std::string& part, const std::string& reason) { set(part, State::kFailed, reason); }

void Health::set(const std::string& part, State state, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  parts_[part] = {state, reason};
}

void Health::clear(const std::string& part) {
  const std::lock_guard lock(mutex_);
  parts_.erase(part);
}

bool Health::alive() const {
  const std::lock_guard lock(mutex_);
  return std::none_of(parts_.begin(), parts_.end(),
                      [](const auto& part) { return part.second.state == State::kFailed; });
}

bool Health::ready() const {
  const std::lock_guard lock(mutex_);
  const auto is_ready = [](const auto& part) { return part.second.state == State::kReady; };
  return !parts_.empty() && std::all_of(parts_.begin(), parts_.end(), is_ready);
}

std::string Health::ready_json() const {
  return json("ready", ready(), [](State state) { return state == State::kReady; });
}

std::string Health::alive_json() const {
  return json("alive", alive(), [](State state) { return state != State::kFailed; });
}

std::string Health::json(const char* question, bool answer, bool (*fine)(State)) const {
  nlohmann::ordered_json out = {{question, answer}, {"parts", nlohmann::ordered_json::object()}};
  const std::lock_guard lock(mutex_);
  const auto noted = [](const auto& part) { return part.second.state == State::kReady && !part.second.reason.empty(); };
  if (std::any_of(parts_.begin(), parts_.end(), noted)) out["degraded"] = true;
  for (const auto& [name, part] : parts_) {
    nlohmann::ordered_json& entry = out["parts"][name];
    entry[question] = fine(part.state);
    if (!part.reason.empty()) entry["reason"] = part.reason;
  }
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace bloomring
