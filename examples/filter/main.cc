// Which of these candidates has the user seen? In the caller's process, with filters read from wherever they lie.
#include <cstdio>

#include "base/hash.h"
#include "filter/filter.h"

int main() {
  using namespace bloomring;
  const UserKey user("", "alice");  // No scene.
  const std::string store_key = "f:alice:2026-11";
  const ItemHash played[] = {item_hash("v1"), item_hash("v2")};
  const std::string value = filter::make(played, user.bytes(), store_key, filter::Policy{});

  const ItemHash candidates[] = {item_hash("v2"), item_hash("v3")};
  uint8_t found[2];
  filter::Query query;
  if (const Status added = query.add(value, store_key); !added.ok()) return std::puts(added.to_string().c_str()), 1;
  query.run(candidates, user.bytes(), found);
  std::printf("v2 %s, v3 %s\n", found[0] != filter::Query::kUnseen ? "seen" : "unseen",
              found[1] != filter::Query::kUnseen ? "seen" : "unseen");
}
