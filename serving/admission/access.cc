#include "serving/admission/access.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/log.h"
#include "base/running_log.h"

namespace bloomring {

namespace {

constexpr std::string_view kEverybody = "*";
constexpr size_t kTextBytesMax = 1 << 20;

std::string without_comment(const std::string& line) { return line.substr(0, line.find('#')); }

}  // namespace

Result<AccessList> AccessList::parse(std::string_view text, const std::string& place) {
  AccessList list;
  std::istringstream lines{std::string(text)};
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(without_comment(line));
    std::string right, name, more;
    if (!(words >> right)) continue;
    const bool reads = right == "read" || right == "replica", writes = right == "write" || right == "replica";
    if ((!reads && !writes) || !(words >> name) || words >> more) {
      return invalid(place + ":" + std::to_string(number) +
                     ": a line is `read NAME`, `write NAME` or `replica NAME`, with a name of a client certificate "
                     "or *");
    }
    if (reads) list.readers_.insert(name);
    if (writes) list.writers_.insert(name);
  }
  return list;
}

bool AccessList::may(std::span<const std::string> names, Right right) const {
  const auto& allowed = right == Right::kRead ? readers_ : writers_;
  return allowed.contains(kEverybody) ||
         std::ranges::any_of(names, [&](const std::string& name) { return allowed.contains(name); });
}

Result<std::unique_ptr<Access>> Access::open(const std::string& path) {
  std::unique_ptr<Access> access(new Access(path));
  BLOOMRING_TRY_ASSIGN(access->text_, access->read());
  BLOOMRING_TRY_ASSIGN(AccessList list, AccessList::parse(access->text_, path));
  access->list_ = std::make_shared<const AccessList>(std::move(list));
  return access;
}

Result<std::string> Access::read() const {
  std::ifstream file(path_, std::ios::binary);
  std::string text(kTextBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return invalid(path_ + ": cannot be read: " + std::strerror(errno));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kTextBytesMax) return invalid(path_ + ": is larger than 1 MiB");
  return text;
}

bool Access::may(std::span<const std::string> names, Right right) const {
  std::shared_ptr<const AccessList> list;  // Shared: the file may be read again meanwhile.
  {
    const std::lock_guard lock(mutex_);
    list = list_;
  }
  return !list || list->may(names, right);
}

void Access::refresh() {
  if (path_.empty()) return;
  Result<std::string> text = read();
  if (text.ok() && *text == text_) return;
  const std::string was = std::exchange(text_, text.ok() ? *text : text.status().message());
  auto list = text.ok() ? AccessList::parse(*text, path_) : Result<AccessList>(text.status());
  if (!list.ok()) {
    if (text_ != was) log_error("the list of who may call stays as it was: " + list.status().message());
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    list_ = std::make_shared<const AccessList>(std::move(*list));
  }
  log_audit(LogLevel::kInfo, "the list of who may call was read again", {{"file", path_}});
}

}  // namespace bloomring
