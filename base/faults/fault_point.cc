#include "base/faults/fault_point.h"

#include <unistd.h>

#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"

namespace bloomring {

namespace internal {
std::atomic<bool> fault_points_armed{false};
}

namespace {

constexpr int kKilledExitCode = 137;  // A shell reports this code after kill -9.

// The action at a point, from its `first` visit on.
struct Rule {
  enum class Action { kExit, kStall, kFail };
  std::string name;
  int64_t first = 1;
  Action action = Action::kExit;
  int64_t amount = 1;  // Milliseconds of a stall, visits that fail.
  std::atomic<int64_t> visits{0};
};

std::function<void(std::string_view)>& handler() {
  static std::function<void(std::string_view)> installed;
  return installed;
}

std::vector<std::unique_ptr<Rule>>& rules() {
  static std::vector<std::unique_ptr<Rule>> armed;
  return armed;
}

// Removes the part of `text` before `separator`, and the separator; returns the part.
std::string_view cut(std::string_view& text, char separator) {
  const size_t at = text.find(separator);
  const std::string_view part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return part;
}

bool read_count(std::string_view text, int64_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0;
}

bool read_action(std::string_view text, Rule& rule) {
  const std::string_view word = cut(text, ':');
  if (word == "exit") return text.empty();
  rule.action = word == "stall" ? Rule::Action::kStall : Rule::Action::kFail;
  return (word == "stall" || word == "fail") && read_count(text, rule.amount);
}

bool read_rule(std::string_view text, Rule& rule) {
  std::string_view place = cut(text, '=');
  rule.name = cut(place, ':');
  if (rule.name.empty() || (!place.empty() && !read_count(place, rule.first))) return false;
  return text.empty() || read_action(text, rule);
}

// Counts a visit of the rule's point, and acts when it is due.
Status visit(Rule& rule) {
  const int64_t number = ++rule.visits;
  if (rule.action == Rule::Action::kFail) {
    if (number < rule.first || number >= rule.first + rule.amount) return {};
    return retry("fault point " + rule.name);
  }
  if (number != rule.first) return {};
  log_warning("fault point " + rule.name + " reached");
  if (rule.action == Rule::Action::kExit) ::_exit(kKilledExitCode);
  std::this_thread::sleep_for(std::chrono::milliseconds(rule.amount));
  return {};
}

void note_armed() { internal::fault_points_armed = static_cast<bool>(handler()) || !rules().empty(); }

}  // namespace

Status internal::fault_point_reached(std::string_view name) {
  if (handler()) handler()(name);
  for (const auto& rule : rules()) {
    if (rule->name == name) BLOOMRING_TRY(visit(*rule));
  }
  return {};
}

void set_fault_handler(std::function<void(std::string_view)> installed) {
  handler() = std::move(installed);
  note_armed();
}

Status arm_fault_points(std::string_view text) {
  std::vector<std::unique_ptr<Rule>> wanted;
  while (!text.empty()) {
    const std::string_view one = cut(text, ',');
    wanted.push_back(std::make_unique<Rule>());
    if (!read_rule(one, *wanted.back())) {
      return invalid("BLOOMRING_FAULT_POINT: " + std::string(one) +
                     ": must be NAME[:VISIT][=exit|stall:MS|fail:TIMES]");
    }
  }
  rules() = std::move(wanted);
  note_armed();
  return {};
}

}  // namespace bloomring
