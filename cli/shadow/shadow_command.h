// `bloomring shadow`: the queries of a site, asked of its old store and of the service.
//
// Exit codes: 0 when every difference has an explanation, 3 when one has none, 1 when a file of queries was not read to
// its end, or nothing was compared.
#pragma once

#include <cstdint>
#include <string>

#include "cli/commands.h"

namespace bloomring::cli {

enum class OldKind : uint8_t { kSets, kFilters };

struct ShadowArgs {
  ConfigArgs config;
  std::string queries;  // File of queries, a line each; "-": standard input; empty: copies of calls at `listen`.
  std::string listen;   // "host:port" of the endpoint for copies.
  std::string server = "127.0.0.1:7700";
  TlsClientFiles tls;
  OldKind old_kind = OldKind::kSets;
  double old_error_rate = 0.01;
  uint64_t cut_members = 0;
  double rate = 100;     // Queries a second.
  double seconds = 0;    // 0: no end.
  double settle_seconds = 5;
  int64_t timeout_ms = 1'000;  // Of a call to the service.
  std::string differences;     // File; empty: only counts.
  std::string admin;           // "host:port" of /metrics; empty: none.
  OutputFormat output = OutputFormat::kJson;
};
int shadow_command(const ShadowArgs& args);

}  // namespace bloomring::cli
