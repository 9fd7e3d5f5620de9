#include "pipeline/admin/admin_token.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/host/private_files.h"
#include "base/words.h"

namespace bloomring {

namespace {

constexpr mode_t kOwnerAlone = 0600;
constexpr const char* kTokenName = "admin.token";

Result<std::string> random_token() {
  std::array<char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return invalid(std::string("this machine gives no random bytes: ") + std::strerror(errno));
  }
  return hex({bytes.data(), bytes.size()});
}

}  // namespace

std::string admin_token_path(const std::string& token_file, const std::string& store_path) {
  return token_file.empty() ? (std::filesystem::path(store_path) / kTokenName).string() : token_file;
}

Result<std::string> read_admin_token(const std::string& path) {
  BLOOMRING_TRY_ASSIGN(const std::string text, read_secret(path));
  std::string token = text.substr(0, text.find_first_of("\r\n"));
  if (token.size() >= kAdminTokenSizeMin) return token;
  return invalid(path + ": its first line is no token; write one of at least 16 characters, as `openssl rand -hex 32`");
}

Status make_admin_token(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerAlone);
  if (file < 0 && errno == EEXIST) return read_admin_token(path).status();
  if (file < 0) return invalid(path + ": cannot be made: " + std::strerror(errno));
  const Result<std::string> token = random_token();
  const std::string line = token.ok() ? *token + "\n" : "";
  const bool written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const std::string reason = std::strerror(errno);
  ::close(file);
  if (written && token.ok()) return {};
  ::unlink(path.c_str());
  return token.ok() ? invalid(path + ": cannot be written: " + reason) : token.status();
}

bool same_token(std::string_view one, std::string_view other) {
  unsigned char difference = one.size() == other.size() ? 0 : 1;
  for (size_t i = 0; i < one.size() && i < other.size(); ++i) {
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  }
  return difference == 0;
}

}  // namespace bloomring
