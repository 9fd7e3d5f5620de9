#include "pipeline/shadow/query_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "pipeline/shadow/query_line.h"

namespace bloomring {

Result<QueryFile> QueryFile::open(const std::string& path) {
  if (path == "-") return QueryFile("standard input", STDIN_FILENO);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return invalid(path + ": " + std::strerror(errno));
  return QueryFile(path, descriptor);
}

QueryFile::QueryFile(QueryFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

QueryFile::~QueryFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

Status QueryFile::read_some() {
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, 0) <= 0) return {};
  char bytes[65536];
  const ssize_t got = ::read(descriptor_, bytes, sizeof bytes);
  if (got < 0 && errno != EINTR && errno != EAGAIN) return fatal(path_ + " cannot be read: " + std::strerror(errno));
  if (got > 0) bytes_.append(bytes, static_cast<size_t>(got));
  if (got == 0) file_ended_ = true;
  return {};
}

bool QueryFile::take_line(std::string& line) {
  const size_t end = bytes_.find('\n', searched_);
  const bool whole = end != std::string::npos;
  if (!whole && !(file_ended_ && !bytes_.empty())) {
    searched_ = bytes_.size();
    if (searched_ <= kLineBytesMax) return false;
    if (!std::exchange(skipping_, true)) refuse("longer than " + std::to_string(kLineBytesMax) + " bytes");
    bytes_.clear();
    searched_ = 0;
    return false;
  }
  line = bytes_.substr(0, whole ? end : bytes_.size());
  bytes_.erase(0, whole ? end + 1 : bytes_.size());
  searched_ = 0;
  ++lines_;
  if (std::exchange(skipping_, false)) line.clear();  // Its end, of which the beginning was refused.
  return true;
}

void QueryFile::refuse(const std::string& reason) {
  if (refused_++ == 0)
    log_warning("a line is no query", {{"file", path_}, {"line", lines_}, {"reason", reason}});
}

Result<std::optional<FilterCall>> QueryFile::next() {
  std::string line;
  while (true) {
    if (!take_line(line)) {
      const size_t before = bytes_.size();
      if (!file_ended_) BLOOMRING_TRY(read_some());
      if (bytes_.size() == before && !(file_ended_ && !bytes_.empty())) return std::optional<FilterCall>();
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<FilterCall> query = parse_query_line(line);
    if (query.ok()) return std::optional<FilterCall>(std::move(*query));
    refuse(query.status().message());
  }
}

}  // namespace bloomring
