#include "serving/verdict.h"

namespace bloomring {

std::string_view reason_name(Reason reason) {
  switch (reason) {
    case Reason::kNone: return "none";
    case Reason::kClient: return "client";
    case Reason::kServed: return "served";
    case Reason::kRecent: return "recent";
    case Reason::kFilter: return "filter";
  }
  return "unknown";
}

std::string_view source_name(Source source) {
  switch (source) {
    case Source::kRecent: return "recent";
    case Source::kServed: return "served";
    case Source::kFilters: return "filters";
  }
  return "unknown";
}

}  // namespace bloomring
