// Any bytes as a record of the topic of jobs, with any key: refused with a reason, or a value that is the same when it
// is written and read again; and whatever a log of them holds, the jobs that are known stay readable.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pipeline/jobs/job_book.h"
#include "pipeline/jobs/job_record.h"

using namespace bloomring;

namespace {

void check_refused(const Status& status) {
  BLOOMRING_CHECK(status.code() == Code::kCorrupt && !status.message().empty(), "refused with a reason");
}

void check_record(std::string_view value) {
  const auto record = decode_job_record(value);
  if (!record.ok()) return check_refused(record.status());
  BLOOMRING_CHECK(check_job_name(record->name).ok(), "its name is that of a job");
  const auto again = decode_job_record(encode_job_record(*record));
  BLOOMRING_CHECK(again.ok() && *again == *record, "what was written can be read, and is the same");
}

void check_rate(std::string_view value) {
  const auto rate = decode_job_rate(value);
  if (!rate.ok()) return check_refused(rate.status());
  BLOOMRING_CHECK(*rate > 0, "a rate is more than 0");
  const auto again = decode_job_rate(encode_job_rate(*rate));
  BLOOMRING_CHECK(again.ok() && *again == *rate, "what was written can be read, and is the same");
}

// A log of records: each a line with the key, a tab and the value.
void check_log(std::string_view lines) {
  JobBook book;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const size_t tab = std::min(line.find('\t'), line.size());
    const std::string_view value = line.substr(std::min(tab + 1, line.size()));
    const uint64_t unreadable = book.unreadable();
    const size_t known = book.jobs().size();
    book.apply(line.substr(0, tab), value);
    if (!value.empty() && book.unreadable() > unreadable)
      BLOOMRING_CHECK(book.jobs().size() == known, "what cannot be read changes nothing");
    for (const auto& [name, record] : book.jobs()) {
      BLOOMRING_CHECK(book.find(name) == &record && record.name == name, "a job is found by its own name");
    }
  }
}

}  // namespace

// Which of the three it is (1 byte, the letters of the corpus), the value.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view value(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'r') {
    check_rate(value);
  } else if (data[0] == 'l') {
    check_log(value);
  } else {
    check_record(value);
  }
  return 0;
}
