#include "state/rocksdb/rocks_log.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/log.h"

namespace bloomring {

namespace {

constexpr size_t kLineBytesMax = 1000;

class RocksLog final : public rocksdb::Logger {
 public:
  RocksLog() : Logger(rocksdb::WARN_LEVEL) {}
  using Logger::Logv;
  // Drops headers, in which each database lists its options.
  void Logv(const char*, va_list) override {}
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level >= rocksdb::HEADER_LEVEL) return;
    char line[kLineBytesMax];
    std::vsnprintf(line, sizeof line, format, arguments);
    for (size_t end = std::strlen(line); end > 0 && line[end - 1] == '\n';) line[--end] = '\0';
    log_line(level >= rocksdb::ERROR_LEVEL ? LogLevel::kWarning : LogLevel::kDebug, std::string("rocksdb: ") + line);
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocks_log() { return std::make_shared<RocksLog>(); }

}  // namespace bloomring
