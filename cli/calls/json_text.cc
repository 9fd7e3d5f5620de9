#include "cli/calls/json_text.h"

#include <algorithm>
#include <ctime>
#include <vector>

namespace bloomring {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kEarliestTimeMs = 946'684'800'000;  // 2000-01-01: a smaller number is a duration.

std::string utc(int64_t ms) {
  const time_t seconds = static_cast<time_t>(ms / 1000);
  tm parts{};
  char text[32] = "";
  gmtime_r(&seconds, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool is_time(const std::string& key, const Json& value) {
  return key.ends_with("_ms") && value.is_number_integer() && value.get<int64_t>() >= kEarliestTimeMs;
}

// Without the unit if the value is written as a date.
std::string label(const std::string& key, bool time) {
  std::string text = time ? key.substr(0, key.size() - 3) : key;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string scalar(const std::string& key, const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (is_time(key, value)) return utc(value.get<int64_t>());
  if (value.is_array() && std::none_of(value.begin(), value.end(), [](const Json& v) { return v.is_structured(); })) {
    std::string text;
    for (const Json& one : value) text += (text.empty() ? "" : ", ") + scalar("", one);
    return text.empty() ? "none" : text;
  }
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

// A line for each row, columns two spaces apart.
std::string table(const Json& rows, const std::string& indent) {
  std::vector<std::string> keys;
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  std::vector<std::vector<std::string>> cells(1);
  for (const std::string& key : keys) {
    const auto time = [&](const Json& row) { return row.contains(key) && is_time(key, row[key]); };
    cells[0].push_back(label(key, std::any_of(rows.begin(), rows.end(), time)));
  }
  for (const Json& row : rows) {
    cells.emplace_back();
    for (const std::string& key : keys) cells.back().push_back(row.contains(key) ? scalar(key, row[key]) : "-");
  }
  std::string text;
  for (const auto& line : cells) {
    std::string written = indent;
    for (size_t column = 0; column < line.size(); ++column) {
      size_t width = 0;
      for (const auto& other : cells) width = std::max(width, other[column].size());
      written += padded(line[column], width + 2);
    }
    text += written.substr(0, written.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

bool is_flat(const Json& row) {
  const auto structured = [](const Json& value) { return value.is_structured(); };
  return std::none_of(row.begin(), row.end(), [&](const Json& cell) {
    return cell.is_object() || (cell.is_array() && std::any_of(cell.begin(), cell.end(), structured));
  });
}

bool is_list(const Json& value) {
  return value.is_array() && !value.empty() &&
         std::all_of(value.begin(), value.end(), [](const Json& row) { return row.is_object(); });
}

std::string lines(const Json& object, const std::string& indent);

// A table when rows are flat; otherwise a block of lines for each row.
std::string list(const Json& rows, const std::string& indent) {
  if (std::all_of(rows.begin(), rows.end(), is_flat)) return table(rows, indent);
  std::string text;
  for (const Json& row : rows) text += (text.empty() ? "" : "\n") + lines(row, indent);
  return text;
}

std::string lines(const Json& object, const std::string& indent) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += indent + label(key, is_time(key, value)) + ":";
    if (is_list(value)) {
      text += "\n" + list(value, indent + "  ");
    } else if (value.is_object() && !value.empty()) {
      text += "\n" + lines(value, indent + "  ");
    } else {
      text += " " + (value.is_object() ? "none" : scalar(key, value)) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string json_text(const Json& json) {
  if (is_list(json)) return list(json, "");
  return json.is_object() ? lines(json, "") : scalar("", json) + "\n";
}

}  // namespace bloomring
