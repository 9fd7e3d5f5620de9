// The question of Client::filter (client.h) and its answer. Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schemas/verdict.h"

namespace bloomring {

struct FilterCall {
  std::string user;
  std::string scene;
  std::vector<std::string> items;        // Each 1 to 128 bytes, at most 20,000.
  std::vector<std::string> client_seen;  // Items that the caller knows to be seen.
  uint32_t min_keep = 0;                 // Relax when fewer items than this are unseen.
  bool all_scenes = false;               // Seen in any scene counts; needs empty `scene`, `min_keep` 0.
  bool strict = false;                   // Fail instead of giving an incomplete reply.
};

struct ItemVerdict {
  bool seen = false;
  Reason reason = Reason::kNone;
  std::string period;  // With Reason::kFilter: "2026-11".
};

struct FilterReply {
  std::vector<ItemVerdict> items;  // One for each item of the call.
  bool complete = false;
  std::vector<Gap> gaps;  // The missing parts when `complete` is false.
  bool user_known = false;
  double expected_error = 0;
  bool saturated = false;  // A filter is past its cap; `expected_error` says what that means.
  // With `all_scenes`: the scenes asked, and those of them that have any event of the user.
  std::vector<std::string> scenes = {};
  std::vector<std::string> known_scenes = {};
  Status error;            // Failed open: why the service could not be asked.
};

}  // namespace bloomring
