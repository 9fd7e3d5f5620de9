// The stylesheet of the operations page. It stands in the page; the policy of the page allows this text alone, by its
// SHA-256, and no script, image, font, frame or form.
// Threading: pure functions.
#pragma once

#include <string>

namespace bloomring {

const std::string& page_style();
// The value of Content-Security-Policy: "default-src 'none'; style-src 'sha256-...'; ...".
const std::string& page_policy();

}  // namespace bloomring
