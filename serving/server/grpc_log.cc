#include "serving/server/grpc_log.h"

#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/log.h"

namespace bloomring {

namespace {

constexpr size_t kPlacesMax = 1000;  // Far more than gRPC has.

// Of one place in gRPC's sources.
struct Place {
  int64_t written_s = -1;
  uint64_t left_out = 0;
};

struct Places {
  std::mutex mutex;
  std::map<std::pair<std::string, int>, Place> of;

  // The number of lines left out before this one; negative when this line is left out, too.
  int64_t take(const char* file, int line) {
    const int64_t now_s = gpr_now(GPR_CLOCK_MONOTONIC).tv_sec;
    const std::lock_guard lock(mutex);
    if (of.size() >= kPlacesMax) of.clear();
    Place& place = of[{file, line}];
    if (place.written_s == now_s) {
      ++place.left_out;
      return -1;
    }
    place.written_s = now_s;
    return static_cast<int64_t>(std::exchange(place.left_out, 0));
  }
};

Places& places() {
  static Places& all = *new Places;  // Never destroyed: gRPC's threads may log while other statics end.
  return all;
}

void on_line(gpr_log_func_args* args) {
  const char* slash = std::strrchr(args->file, '/');
  const char* file = slash == nullptr ? args->file : slash + 1;
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
  const int64_t left_out = places().take(file, args->line);
  if (left_out < 0) return;
  log_line(level, std::string("grpc: ") + args->message,
           {{"file", file}, {"line", args->line}, {"left_out", left_out}});
}

}  // namespace

void log_grpc_lines() { gpr_set_log_function(on_line); }

}  // namespace bloomring
