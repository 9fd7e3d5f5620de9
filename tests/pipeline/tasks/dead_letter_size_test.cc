#include "pipeline/tasks/dead_letter.h"

#include <catch2/catch.hpp>
#include <map>

#include "schemas/topics.h"

using namespace bloomring;

namespace {

OutRecord letter_of(const std::string& key, const std::string& value, const std::string& message = "why",
                    const RecordHeaders& headers = {}) {
  const LogRecord record{Offset(7), 1, key, value};
  const std::string topic(249, 't');
  return dead_letter("plays-dead", {"ingest", topic, PartitionId(2)}, record, Refusal::kTooLarge, message,
                     1'795'000'000'000, headers);
}

std::string header(const OutRecord& letter, const std::string& name) {
  const std::map<std::string, std::string> headers(letter.headers.begin(), letter.headers.end());
  const auto found = headers.find("bloomring.error." + name);
  return found == headers.end() ? "" : found->second;
}

size_t bytes(const OutRecord& letter) {
  size_t sum = letter.key.size() + letter.value.size();
  for (const auto& [name, value] : letter.headers) sum += name.size() + value.size();
  return sum;
}

}  // namespace

TEST_CASE("dead letter: a record that fits is kept whole and says nothing of its length") {
  const std::string value(800'000, 'v');
  const OutRecord letter = letter_of("key", value);
  CHECK(letter.key == "key");
  CHECK(letter.value == value);
  CHECK(header(letter, "value_bytes").empty());
  CHECK(header(letter, "key_bytes").empty());
  CHECK(header(letter, "offset") == "7");
}

TEST_CASE("dead letter: of a key and a value of any size it keeps the beginnings and says how long they were") {
  const auto [key_bytes, value_bytes] =
      GENERATE(table<size_t, size_t>(
          {{3, 1'000'001}, {1'000'000, 5}, {0, 30'000'000}, {1'048'000, 1'048'000}, {90'000, 899'000}}));
  const std::string key(key_bytes, 'k'), value(value_bytes, 'v');
  const RecordHeaders headers = {{"h", std::string(kDeadLetterHeadersBytesMax - 1, 'h')}};
  const OutRecord letter = letter_of(key, value, std::string(5'000, 'm'), headers);
  CHECK(letter.headers.back() == headers[0]);
  CHECK(bytes(letter) <= kMessageBytesMax - 10'000);
  CHECK(key.starts_with(letter.key));
  CHECK(value.starts_with(letter.value));
  CHECK(header(letter, "key_bytes") == (letter.key.size() < key_bytes ? std::to_string(key_bytes) : ""));
  CHECK(header(letter, "value_bytes") == (letter.value.size() < value_bytes ? std::to_string(value_bytes) : ""));
  CHECK(letter.key.size() + letter.value.size() > 64'000);
  CHECK((letter.key.size() < key_bytes || letter.value.size() < value_bytes));
}
