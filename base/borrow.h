// Marks for functions that keep a reference to bytes of their caller. Clang checks them, and callers read them.
//
//   Result<View> parse(std::string_view value BLOOMRING_LIFETIMEBOUND);  // The view points into the value.
//   Status add(std::string_view value);                                  // Borrowed until `clear`.
//   template <OwningTemporary Bytes>
//   Status add(Bytes&& value) = delete;                                  // Gone at the end of the statement.
//
// A type that borrows says in its header what keeps the bytes alive, is not held past the statement that made their
// owner, and refuses temporaries where it would outlive them.
#pragma once

#include <ranges>
#include <type_traits>

// On a parameter: the result (of a constructor: the object) points into the argument. After a member function: the
// result points into the object. clang refuses results that outlive a temporary (-Wdangling); g++ 12 has no such check.
#if defined(__clang__)
#define BLOOMRING_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define BLOOMRING_LIFETIMEBOUND
#endif

namespace bloomring {

// A string or vector that is not an lvalue: its bytes are freed at the end of the statement, and a view of them
// dangles.
template <typename Bytes>
concept OwningTemporary =
    !std::is_lvalue_reference_v<Bytes> && std::ranges::range<Bytes> && !std::ranges::borrowed_range<Bytes>;

}  // namespace bloomring
