// The examples of docs/formats.md: the document is where the golden bytes lie, so it cannot tell a different story.
//
// In the section of a format, a block of language `hex` holds the example: on each line hexadecimal digits, then two
// spaces and what they mean.
#pragma once

#include <string>
#include <string_view>

namespace bloomring {

// The bytes of the `hex` block in the section with this title; fails the test when there is none.
std::string documented_example(std::string_view section);

// The lines of the block of this language in the section.
std::string documented_block(std::string_view section, std::string_view language);

// Lower case, without spaces: what a failed comparison shows.
std::string hex(std::string_view bytes);

}  // namespace bloomring
