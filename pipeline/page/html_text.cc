#include "pipeline/page/html_text.h"

#include "pipeline/page/page_words.h"

namespace bloomring {

std::string escaped(std::string_view text, size_t bytes) {
  std::string out;
  for (const char c : clean(text, bytes)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

bool Rows::add(const std::string& row) {
  if (left_out_ > 0 || rows_ == rows_max_ || html_.size() + row.size() > bytes_max_) {
    ++left_out_;
    return false;
  }
  ++rows_;
  html_ += row;
  return true;
}

}  // namespace bloomring
