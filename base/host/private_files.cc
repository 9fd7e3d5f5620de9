#include "base/host/private_files.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace bloomring {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

void keep_files_private() { ::umask(0077); }

void forbid_core_dumps() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

std::string readable_by_others(const std::string& path, bool group_may) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return "";
  const mode_t readers = group_may ? S_IROTH : S_IRGRP | S_IROTH;
  if ((file.st_mode & readers) == 0) return "";
  std::array<char, 16> mode{};
  std::snprintf(mode.data(), mode.size(), "mode %04o", file.st_mode & 07777U);
  return mode.data();
}

Result<std::string> read_secret(const std::string& path) {
  errno = 0;
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return invalid(path + ": cannot be read: " + std::strerror(errno));
  std::string text(kSecretBytesMax + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return invalid(path + ": cannot be read: " + std::strerror(errno));
  if (text.size() > kSecretBytesMax) return invalid(path + ": is larger than a secret, 64 KiB");
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) return invalid(path + ": is empty");
  return text;
}

}  // namespace bloomring
