// Two services in memory, for comparisons on a manual clock.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/shadow/shadow_comparer.h"
#include "tests/support/folder.h"
#include "tests/support/manual_clock.h"

namespace bloomring::testing {

struct ShadowBed {
  static constexpr int64_t kNowMs = 1'764'000'000'000;  // 2025-11-24.

  // Has the items of the map, with the times of their plays.
  Result<OldAnswer> ask_old(const FilterCall& call) {
    ++old_questions;
    clock.advance_ms(old_ms);
    if (old_away) return retry("the old store is away");
    OldAnswer answer;
    answer.cut = cut;
    for (const std::string& item : call.items) {
      const auto found = old_items.find(item);
      answer.verdicts.push_back(found == old_items.end() ? OldVerdict{}
                                                          : OldVerdict{true, LegacyRefusal::kNone, found->second});
    }
    return answer;
  }
  // Has the items of the map, with the sources that have them.
  Result<FilterReply> ask_new(const FilterCall& call) {
    clock.advance_ms(new_ms);
    if (new_away) return retry("the service is away");
    FilterReply reply;
    reply.complete = complete;
    reply.expected_error = 0.004;
    for (const std::string& item : call.items) {
      const auto found = new_items.find(item);
      reply.items.push_back(found == new_items.end() ? ItemVerdict{} : ItemVerdict{true, found->second, {}});
    }
    return reply;
  }
  Result<std::vector<bool>> ask_forgotten(const FilterCall& call, const std::vector<int64_t>& times_ms) {
    std::vector<bool> answer;
    for (size_t i = 0; i < call.items.size(); ++i)
      answer.push_back(forgotten.contains(call.items[i]) && times_ms[i] < kNowMs);
    return answer;
  }

  ShadowComparer comparer(ShadowConfig config = {}) {
    return {config,
            {calendar, clock, differences, [this](const FilterCall& call) { return ask_old(call); },
             [this](const FilterCall& call) { return ask_new(call); },
             [this](const FilterCall& call, const std::vector<int64_t>& times_ms) {
               return ask_forgotten(call, times_ms);
             }}};
  }
  static FilterCall query(std::vector<std::string> items, const std::string& user = "u1") {
    FilterCall call;
    call.user = user;
    call.items = std::move(items);
    return call;
  }

  std::map<std::string, int64_t> old_items;
  std::map<std::string, Reason> new_items;
  std::set<std::string> forgotten;
  bool cut = false;
  bool complete = true;
  bool old_away = false, new_away = false;  // FAULT: no answer.
  int64_t old_ms = 0, new_ms = 0;           // That an answer takes.
  int old_questions = 0;
  Folder folder;
  const Calendar calendar = Calendar::create({}).value();
  ManualClock clock{kNowMs};
  FoundFile differences = FoundFile::open(folder / "differences").value();
};

}  // namespace bloomring::testing
