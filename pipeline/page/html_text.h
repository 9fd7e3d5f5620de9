// HTML of the operations page in pieces: escaped text, and lists of rows that end at a bound.
// Threading: values and pure functions.
#pragma once

#include <string>
#include <string_view>

namespace bloomring {

// Text for an element or a quoted attribute: at most `bytes` of it, clean (page_words.h), with &<>"' escaped.
std::string escaped(std::string_view text, size_t bytes = 300);

// Rows of HTML until their number or their bytes reach a bound; the rest is only counted.
class Rows {
 public:
  Rows(size_t rows_max, size_t bytes_max) : rows_max_(rows_max), bytes_max_(bytes_max) {}

  // False, and nothing added, once a bound is reached.
  bool add(const std::string& row);
  size_t left_out() const { return left_out_; }
  bool empty() const { return rows_ == 0; }
  const std::string& html() const { return html_; }

 private:
  const size_t rows_max_, bytes_max_;
  size_t rows_ = 0, left_out_ = 0;
  std::string html_;
};

}  // namespace bloomring
