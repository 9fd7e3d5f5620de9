#include "base/metrics/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace bloomring {
namespace {

// Unix time of the machine's start: the line "btime N" of /proc/stat.
std::optional<double> boot_seconds() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double seconds = 0;
    if (word == "btime" && file >> seconds) return seconds;
  }
  return std::nullopt;
}

// Field 22 of /proc/self/stat is the start in clock ticks after boot. The name in field 2 may hold spaces, so counting
// begins after its closing parenthesis, with field 3.
std::optional<double> start_seconds() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  const std::optional<double> boot = boot_seconds();
  if (end == std::string::npos || !boot) return std::nullopt;
  std::istringstream rest(line.substr(end + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) rest >> field;
  return *boot + std::stod(field) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::optional<uint64_t> count_fds() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return std::nullopt;
  uint64_t count = 0;
  while (const dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
  closedir(folder);
  return count - 1;  // Without the descriptor of this very folder.
}

void read_memory(ProcessStats& stats) {
  std::ifstream file("/proc/self/statm");
  uint64_t virtual_pages = 0, resident_pages = 0;
  if (!(file >> virtual_pages >> resident_pages)) return;
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  stats.virtual_bytes = virtual_pages * page_bytes;
  stats.resident_bytes = resident_pages * page_bytes;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessStats read_process_stats() {
  ProcessStats stats;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) stats.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) stats.fds_max = files.rlim_cur;
  read_memory(stats);
  stats.open_fds = count_fds();
  stats.start_seconds = start_seconds();
  return stats;
}

}  // namespace bloomring
