#include "base/result.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "base/check_report.h"

namespace bloomring {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kRetry: return "retry";
    case Code::kBadRecord: return "bad record";
    case Code::kFenced: return "fenced";
    case Code::kCorrupt: return "corrupt";
    case Code::kInvalid: return "invalid";
    case Code::kFatal: return "fatal";
  }
  return "unknown";
}

Status Status::with_context(std::string_view context) && {
  if (!ok()) message_ = std::string(context) + ": " + message_;
  return std::move(*this);
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  return std::string(code_name(code_)) + ": " + message_;
}

Status retry(std::string message) { return {Code::kRetry, std::move(message)}; }
Status bad_record(std::string message) { return {Code::kBadRecord, std::move(message)}; }
Status fenced(std::string message) { return {Code::kFenced, std::move(message)}; }
Status corrupt(std::string message) { return {Code::kCorrupt, std::move(message)}; }
Status invalid(std::string message) { return {Code::kInvalid, std::move(message)}; }
Status fatal(std::string message) { return {Code::kFatal, std::move(message)}; }

namespace {
std::atomic<CheckReport> check_report{nullptr};
}

void set_check_report(CheckReport report) { check_report = report; }

void check_failed(const char* expression, const char* file, int line, std::string_view message) {
  if (const CheckReport report = check_report) {
    report("check failed: " + std::string(expression) + ": " + std::string(message), file, line);
  } else {
    std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, expression, static_cast<int>(message.size()),
                 message.data());
  }
  std::abort();
}

}  // namespace bloomring
