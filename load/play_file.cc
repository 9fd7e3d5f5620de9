#include "load/play_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "load/play_template.h"

namespace bloomring {

namespace {

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

struct Columns {
  size_t user;
  size_t item;
  size_t time;
};

Result<Columns> find_columns(const std::string& header, const std::string& path) {
  const std::vector<std::string> names = split_tabs(header);
  const auto find = [&](const char* name) {
    return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  const Columns columns{find("user_id"), find("video_id"), find("time_ms")};
  if (std::max({columns.user, columns.item, columns.time}) == names.size()) {
    return invalid(path + ":1: neither JSON nor a header line with the columns user_id, video_id and time_ms");
  }
  return columns;
}

Result<FilePlay> parse_row(const std::string& line, const Columns& columns, const std::string& where) {
  const std::vector<std::string> fields = split_tabs(line);
  if (fields.size() <= std::max({columns.user, columns.item, columns.time}))
    return invalid(where + ": too few columns");
  try {
    return FilePlay{fields[columns.user], fields[columns.item], std::stoll(fields[columns.time])};
  } catch (const std::exception&) {
    return invalid(where + ": time_ms is not a number: '" + fields[columns.time] + "'");
  }
}

void finish(PlayFile& file, int64_t shift_to_ms, const PlayMapping& mapping) {
  const PlayTemplate site(mapping);
  int64_t newest_ms = 0;
  for (const FilePlay& play : file.plays) newest_ms = std::max(newest_ms, play.time_ms);
  const int64_t shift_ms = shift_to_ms == 0 ? 0 : shift_to_ms - newest_ms;
  for (FilePlay& play : file.plays) {
    play.time_ms += shift_ms;
    file.json.push_back(site.play(play.user, play.item, play.time_ms));
    file.played[play.user].insert(play.item);
  }
}

}  // namespace

Result<PlayFile> read_play_file(const std::string& path, int64_t shift_to_ms, const PlayMapping& mapping) {
  std::ifstream opened;
  if (path != "-") opened.open(path);
  std::istream& in = path == "-" ? std::cin : opened;
  if (!in) return invalid(path + ": cannot be read: " + std::strerror(errno) + "; name a file with plays");
  PlayFile file;
  std::string line;
  if (!std::getline(in, line)) return invalid(path + ": is empty");
  if (line.starts_with("{")) {
    if (shift_to_ms != 0) return invalid(path + ": --shift-to-now needs tab-separated values");
    do {
      if (!line.empty()) file.json.push_back(line);
    } while (std::getline(in, line));
    return file;
  }
  BLOOMRING_TRY_ASSIGN(const Columns columns, find_columns(line, path));
  for (size_t number = 2; std::getline(in, line); ++number) {
    BLOOMRING_TRY_ASSIGN(FilePlay play, parse_row(line, columns, path + ":" + std::to_string(number)));
    file.plays.push_back(std::move(play));
  }
  finish(file, shift_to_ms, mapping);
  return file;
}

}  // namespace bloomring
