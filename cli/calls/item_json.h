// An item with its verdict, as the commands print it.
// Threading: pure function.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "client/client.h"

namespace bloomring {

// {"item":"v1","seen":true,"reason":"filter","period":"2026-11"}: fields in a readable order.
inline nlohmann::ordered_json item_json(const std::string& item, const ItemVerdict& verdict) {
  nlohmann::ordered_json json = {{"item", item}, {"seen", verdict.seen}};
  if (verdict.reason != Reason::kNone) json["reason"] = reason_name(verdict.reason);
  if (!verdict.period.empty()) json["period"] = verdict.period;
  return json;
}

}  // namespace bloomring
