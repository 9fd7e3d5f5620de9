// The rights of callers: a list of names of client certificates, in the file `serve.access_file`.
//
//   # may      name of the certificate
//   read       recommender.example.internal
//   write      player.example.internal
//   replica    replica-0.bloomring.internal
//   read       *
//
// | word    | calls |
// |---------|-------|
// | read    | Filter, FilterBatch, GetSnapshot |
// | write   | RecordServed, Forget |
// | replica | all: another replica passes calls on that it has judged by its own list |
//
// A line gives one right to one name; a name with several rights has several lines. `*` is every client whose
// certificate the port accepts. A name is one of the alternative names of the certificate (DNS name, URI, e-mail or IP
// address), compared whole; a certificate without any is known by its common name. A right that no line
// gives is denied.
// Errors: kInvalid for a file that cannot be read, or has a line that is not of this form; the message names the line.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

enum class Right : uint8_t { kRead, kWrite };

// One reading of the file.
// Threading: immutable.
class AccessList {
 public:
  // `place` names the text in messages.
  static Result<AccessList> parse(std::string_view text, const std::string& place);
  bool may(std::span<const std::string> names, Right right) const;

 private:
  std::set<std::string, std::less<>> readers_, writers_;
};

// The list in force.
// Threading: thread safe.
class Access {
 public:
  // Everybody may do everything.
  Access() = default;
  // The list in the file, which `refresh` reads again.
  static Result<std::unique_ptr<Access>> open(const std::string& path);

  bool may(std::span<const std::string> names, Right right) const;
  // Reads the file again if it has changed. A file that has become wrong leaves the list as it was, and the log says
  // so, once for each content.
  void refresh();

 private:
  explicit Access(std::string path) : path_(std::move(path)) {}
  Result<std::string> read() const;

  const std::string path_;
  std::string text_;  // As last read. Only `refresh` uses it.
  mutable std::mutex mutex_;
  std::shared_ptr<const AccessList> list_;  // Shared with calls that look at it; null: no list.
};

}  // namespace bloomring
