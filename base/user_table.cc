#include "base/user_table.h"

#include <algorithm>

#include "base/scatter.h"

namespace bloomring {

namespace {
constexpr size_t kTableStart = 64;
}

UserTable::UserTable() : table_(kTableStart) {}

uint32_t UserTable::find_or_add(UserRef wanted) {
  const size_t mask = table_.size() - 1;
  size_t at = scatter(wanted.hash) & mask;
  for (; table_[at] != 0; at = (at + 1) & mask) {
    const uint32_t user = table_[at] - 1;
    if (users_[user].hash == wanted.hash && key(user) == wanted.key) return user;
  }
  const auto number = static_cast<uint32_t>(users_.size());
  table_[at] = number + 1;
  users_.push_back({wanted.hash, static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(wanted.key.size())});
  keys_.append(wanted.key);
  if (users_.size() * 2 > table_.size()) grow();
  return number;
}

void UserTable::grow() {
  std::vector<uint32_t> table(table_.size() * 2);
  const size_t mask = table.size() - 1;
  for (uint32_t user = 0; user < users_.size(); ++user) {
    size_t at = scatter(users_[user].hash) & mask;
    while (table[at] != 0) at = (at + 1) & mask;
    table[at] = user + 1;
  }
  table_ = std::move(table);
}

size_t UserTable::longest_search() const {
  return longest_probe(
      table_.size(), [&](size_t place) { return table_[place] != 0; },
      [&](size_t place) { return scatter(users_[table_[place] - 1].hash) & (table_.size() - 1); });
}

void UserTable::clear() {
  if (users_.empty()) return;
  users_.clear();
  keys_.clear();
  std::fill(table_.begin(), table_.end(), 0);
}

}  // namespace bloomring
