#include "pipeline/jobs/migrate/found_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

namespace bloomring {

Result<FoundFile> FoundFile::open(const std::string& path) {
  FoundFile found;
  found.path_ = path;
  if (path.empty()) return found;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor >= 0) found.file_.reset(::fdopen(descriptor, "a"));
  if (!found.file_) return invalid(path + ": " + std::strerror(errno));
  return found;
}

void FoundFile::add(const std::vector<std::pair<std::string, std::string>>& fields) {
  if (!file_) return;
  nlohmann::ordered_json line;
  for (const auto& [name, value] : fields) line[name] = value;
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), file_.get());
}

Status FoundFile::flush() {
  if (!file_ || (std::fflush(file_.get()) == 0 && std::ferror(file_.get()) == 0)) return {};
  return fatal(path_ + " cannot be written: " + std::strerror(errno));
}

}  // namespace bloomring
