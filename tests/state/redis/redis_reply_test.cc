#include "state/redis/redis_reply.h"

#include <catch2/catch.hpp>

#include "tests/state/redis/read_reply.h"

using namespace bloomring;
using namespace bloomring::testing;

TEST_CASE("redis reply: each kind is read with its content, however it is cut") {
  const std::string stream =
      "+OK\r\n:-7\r\n$5\r\na\r\nb\x01\r\n$-1\r\n-ERR no\r\n*3\r\n:1\r\n*2\r\n$0\r\n\r\n+x\r\n$-1\r\n*0\r\n";
  for (const size_t cut : {size_t{1}, size_t{3}, stream.size()}) {
    RedisReplyReader reader;
    std::vector<RedisReply> all;
    for (size_t at = 0; at < stream.size(); at += cut) {
      REQUIRE(reader.feed(std::string_view(stream).substr(at, cut)).ok());
      while (true) {
        auto next = reader.next();
        REQUIRE(next.ok());
        if (!*next) break;
        all.push_back(std::move(**next));
      }
    }
    REQUIRE(all.size() == 7);
    CHECK((all[0].is(RedisReply::Kind::kStatus) && all[0].bytes == "OK"));
    CHECK((all[1].is(RedisReply::Kind::kInteger) && all[1].integer == -7));
    CHECK((all[2].is(RedisReply::Kind::kBytes) && all[2].bytes == "a\r\nb\x01"));
    CHECK(all[3].is(RedisReply::Kind::kNil));
    CHECK((all[4].error() && all[4].bytes == "ERR no"));
    REQUIRE(all[5].elements.size() == 3);
    CHECK(all[5].elements[1].elements[1].bytes == "x");
    CHECK(all[5].elements[2].is(RedisReply::Kind::kNil));
    CHECK(all[6].elements.empty());
  }
}

TEST_CASE("redis reply: an endpoint of another protocol is told by what it answers") {
  for (const std::string bytes : {"HTTP/1.1 400 Bad Request\r\n\r\n", "\x16\x03\x01\x02", "SSH-2.0-x\r\n"}) {
    RedisReplyReader reader;
    REQUIRE(reader.feed(bytes).ok());
    const auto next = reader.next();
    CHECK(next.code() == Code::kInvalid);
  }
  RedisReplyReader reader;
  REQUIRE(reader.feed("HTTP/1.1 400 Bad\r\n").ok());
  CHECK(reader.next().status().message() == "no server of the Redis protocol: it answers \"HTTP/1.1 400 Bad..\"");
}

TEST_CASE("redis reply: an array of more elements than any reply has is refused") {
  RedisReplyReader reader;
  REQUIRE(reader.feed("*2000000000\r\n").ok());
  CHECK_FALSE(reader.next().ok());
}

TEST_CASE("redis reply: arrays of one reply have together no more elements than any reply has") {
  RedisReplyReader reader;
  REQUIRE(reader.feed("*1\r\n*1000000\r\n").ok());
  CHECK(reader.next().ok());
  RedisReplyReader nested;
  REQUIRE(nested.feed("*1000000\r\n*1000000\r\n").ok());
  CHECK_FALSE(nested.next().ok());
  RedisReplyReader second;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(second.feed("*2\r\n*0\r\n*400000\r\n").ok());
    for (int element = 0; element < 400'000; ++element) REQUIRE(second.feed(":1\r\n").ok());
    CHECK(second.next()->has_value());
  }
}

TEST_CASE("redis reply: a command is its words with their lengths") {
  std::string bytes;
  append_redis_command(bytes, {"SET", std::string_view("a\0b", 3), ""});
  CHECK(bytes == std::string("*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$0\r\n\r\n", 28));
  RedisCommand command(2);
  command.add("GET").add(int64_t{12});
  CHECK(read_reply(std::move(command).take()).elements[1].bytes == "12");
}

TEST_CASE("redis reply: error replies ask for these reactions") {
  CHECK(redis_error("MOVED 1 127.0.0.1:1") == RedisError::kMoved);
  CHECK(redis_error("ASK 1 127.0.0.1:1") == RedisError::kAsk);
  for (const char* text : {"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN The cluster is down",
                           "LOADING Redis is loading", "MASTERDOWN Link with MASTER is down", "BUSY Redis is busy"})
    CHECK(redis_error(text) == RedisError::kAgain);
  CHECK(redis_error("READONLY You can't write against a read only replica.") == RedisError::kReadOnly);
  for (const char* text : {"OOM command not allowed when used memory > 'maxmemory'.", "MISCONF Redis is configured to",
                           "NOREPLICAS Not enough good replicas to write."})
    CHECK(redis_error(text) == RedisError::kFull);
  for (const char* text : {"NOAUTH Authentication required.", "WRONGPASS invalid username-password pair"})
    CHECK(redis_error(text) == RedisError::kNoLogin);
  CHECK(redis_error("NOPERM this user has no permissions") == RedisError::kForbidden);
  CHECK(redis_error("ERR unknown command 'EVAL', with args") == RedisError::kUnknownCommand);
  CHECK(redis_error("WRONGTYPE Operation against a key") == RedisError::kWrongType);
  CHECK(redis_error("ERR syntax error") == RedisError::kOther);
  RedisReply error;
  error.kind = RedisReply::Kind::kError;
  const auto code = [&](const char* text) {
    error.bytes = text;
    return redis_failure(error, "SET").code();
  };
  CHECK(code("OOM x") == Code::kRetry);
  CHECK(code("CLUSTERDOWN x") == Code::kRetry);
  CHECK(code("ERR x") == Code::kRetry);
  CHECK(code("NOPERM x") == Code::kInvalid);
  CHECK(code("NOAUTH x") == Code::kInvalid);
  CHECK(code("ERR unknown command 'EVAL'") == Code::kInvalid);
}

TEST_CASE("redis reply: addresses and redirects are read, others are refused") {
  CHECK(parse_redis_address("a.b:6379").value() == RedisAddress{"a.b", 6379});
  CHECK(parse_redis_address("[::1]:1").value() == RedisAddress{"::1", 1});
  CHECK(joined_addresses({{"a.b", 6379}, {"::1", 1}}) == "a.b:6379, [::1]:1");
  CHECK(joined_addresses({{"a.b", 6379}, {"::1", 1}}, ",") == "a.b:6379,[::1]:1");
  CHECK(RedisAddress{"::1", 1}.text() == "[::1]:1");
  for (const char* bad : {"", "a", "a:", "a:0", "a:65536", "a:1x", "a:-1"})
    CHECK(parse_redis_address(bad).code() == Code::kInvalid);
  const RedisAddress from{"10.0.0.1", 7000};
  const auto moved = parse_redirect("MOVED 3999 10.0.0.2:6381", from);
  CHECK((moved->slot == 3999 && moved->to == RedisAddress{"10.0.0.2", 6381}));
  CHECK(parse_redirect("ASK 1 :7001", from)->to == RedisAddress{"10.0.0.1", 7001});
  for (const char* bad : {"MOVED", "MOVED 1", "MOVED x a:1", "MOVED 1 a", "MOVED 16384 a:1", "ASK 65535 a:1"})
    CHECK(parse_redirect(bad, from).code() == Code::kRetry);
}

TEST_CASE("redis reply: a number is its digits alone, and fits") {
  CHECK(parse_redis_number<uint64_t>("18446744073709551615") == UINT64_MAX);
  CHECK(parse_redis_number<int64_t>("-1") == -1);
  for (const char* bad : {"", "-1", "+1", " 1", "1 ", "1x", "18446744073709551616"})
    CHECK_FALSE(parse_redis_number<uint64_t>(bad));
}
