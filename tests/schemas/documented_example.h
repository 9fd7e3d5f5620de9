// The examples of docs/formats.md: the document is where the golden bytes lie, so it cannot tell a different story.
//
// Under a heading, a block of language `hex` holds an example: on each line hexadecimal digits, then two spaces and
// what they mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace bloomring {

struct DocumentedBlock {
  std::string section;  // The heading it stands under, of whatever level.
  std::string text;
};
// All blocks of this language.
std::vector<DocumentedBlock> documented_blocks(std::string_view language);

// The bytes of the `hex` block under this heading; fails the test when there is none.
std::string documented_example(std::string_view section);

// The lines of the block of this language under the heading.
std::string documented_block(std::string_view section, std::string_view language);

}  // namespace bloomring
