// Uses of types that borrow, which clang refuses in the builds that it makes: each line that a comment names must be an
// error, and nothing else may be one. Only parsed, with clang's -verify.
#include "base/borrow.h"

#include "base/ids.h"
#include "base/result.h"
#include "filter/format.h"
#include "schemas/event_block.h"
#include "serving/query/candidate_filter.h"

using namespace bloomring;

UserKey make_key();
Result<std::vector<ItemHash>> make_items();
Result<filter::View> parse_of(const std::string& bytes BLOOMRING_LIFETIMEBOUND);

size_t temporaries() {
  const std::string_view key = make_key().bytes();  // expected-error {{temporary whose address}}
  const FilterQuestion question{make_key().bytes(), {}, {}, {}};  // expected-error {{temporary whose address}}
  const std::vector<ItemHash>& items = make_items().value();  // expected-error {{temporary bound to local reference}}
  for (const ItemHash item : make_items().value()) (void)item;  // expected-error {{temporary implicitly bound}}
  const std::string_view text = std::string("x");  // expected-error {{object backing the pointer}}
  return key.size() + question.ids.size() + items.size() + text.size();
}

std::string_view returned() {
  const UserKey key = make_key();
  return key.bytes();  // expected-error {{address of stack memory}}
}

size_t of_owners() {
  const UserKey key = make_key();
  const std::vector<ItemHash> items = make_items().value();
  const FilterQuestion question{key.bytes(), items, {}, {}};
  return question.ids.size() + make_key().bytes().size();
}
