// Expected failures as values.
//
// A code names the reaction that it asks for, not its origin. The message says what failed, where, and what to do;
// callers add context with `with_context`. A broken invariant is no value: BLOOMRING_CHECK ends the process, in release
// builds too.
//
// Threading: values, like std::string.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/borrow.h"

namespace bloomring {

// The reaction that a failure asks of the caller.
enum class Code {
  kOk,
  kRetry,      // A passing state of something outside (broker, store, full queue): try again later.
  kBadRecord,  // This one input is wrong: refuse it (dead letter, INVALID_ARGUMENT) and continue.
  kFenced,     // Another owner has taken over: write nothing more, release the work.
  kCorrupt,    // Bytes at rest are not what was written: do not use them.
  kInvalid,    // The command line, the configuration or the set-up is wrong: exit code 2.
  kFatal,      // The process cannot go on: stop with an error, exit code 1.
};

std::string_view code_name(Code code);

// Success, or a code with a message.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with "context: " in front of its message. Success stays success.
  Status with_context(std::string_view context) &&;

  // "corrupt: filter of user u1: checksum differs", or "ok".
  std::string to_string() const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

Status retry(std::string message);
Status bad_record(std::string message);
Status fenced(std::string message);
Status corrupt(std::string message);
Status invalid(std::string message);
Status fatal(std::string message);

[[noreturn]] void check_failed(const char* expression, const char* file, int line, std::string_view message);

// A T, or the Status that says why there is none. Reading the value of a failure is a broken invariant.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}        // NOLINT: a value is a result
  Result(Status status) : state_(std::move(status)) {  // NOLINT: so is a failure
    if (std::get<Status>(state_).ok())
      check_failed("!status.ok()", __FILE__, __LINE__, "a Result made of an ok Status");
  }

  bool ok() const { return std::holds_alternative<T>(state_); }
  Status status() const& { return ok() ? Status() : std::get<Status>(state_); }
  Status status() && { return ok() ? Status() : std::move(std::get<Status>(state_)); }
  Code code() const { return ok() ? Code::kOk : std::get<Status>(state_).code(); }

  T& value() & BLOOMRING_LIFETIMEBOUND { return checked(); }
  const T& value() const& BLOOMRING_LIFETIMEBOUND { return const_cast<Result*>(this)->checked(); }
  T&& value() && BLOOMRING_LIFETIMEBOUND { return std::move(checked()); }
  T& operator*() & BLOOMRING_LIFETIMEBOUND { return checked(); }
  const T& operator*() const& BLOOMRING_LIFETIMEBOUND { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && BLOOMRING_LIFETIMEBOUND { return std::move(checked()); }
  T* operator->() BLOOMRING_LIFETIMEBOUND { return &checked(); }
  const T* operator->() const BLOOMRING_LIFETIMEBOUND { return &const_cast<Result*>(this)->checked(); }

 private:
  T& checked() {
    if (!ok()) check_failed("result.ok()", __FILE__, __LINE__, std::get<Status>(state_).message());
    return std::get<T>(state_);
  }

  std::variant<T, Status> state_;
};

}  // namespace bloomring

// Ends the process with the place and the message. For invariants, never for input.
#define BLOOMRING_CHECK(expression, message)                                                  \
  do {                                                                                        \
    if (!(expression)) ::bloomring::check_failed(#expression, __FILE__, __LINE__, (message)); \
  } while (false)

// Returns the failure of a Status expression to the caller.
#define BLOOMRING_TRY(expression)                  \
  do {                                             \
    ::bloomring::Status try_status = (expression); \
    if (!try_status.ok()) return try_status;       \
  } while (false)

// Declares `target` as the value of a Result expression, or returns its failure to the caller.
#define BLOOMRING_TRY_ASSIGN(target, expression) \
  BLOOMRING_TRY_ASSIGN_IMPL(BLOOMRING_CONCAT(try_result_, __LINE__), target, expression)
#define BLOOMRING_TRY_ASSIGN_IMPL(name, target, expression) \
  auto name = (expression);                                 \
  if (!name.ok()) return std::move(name).status();          \
  target = std::move(name).value()
#define BLOOMRING_CONCAT(a, b) BLOOMRING_CONCAT_IMPL(a, b)
#define BLOOMRING_CONCAT_IMPL(a, b) a##b
