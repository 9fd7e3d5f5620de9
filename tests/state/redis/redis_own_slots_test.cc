// Replies of redis-server 7.0, and what is none.
#include "state/redis/redis_own_slots.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

std::optional<RedisOwnSlots> read(const std::string& lines) {
  RedisReply reply;
  reply.kind = RedisReply::Kind::kBytes;
  reply.bytes = lines;
  return parse_own_slots(reply);
}

std::string server(const std::string& id, const std::string& flags, const std::string& epoch,
                   const std::string& slots) {
  return id + " 127.0.0.1:30004@31004,host " + flags + " - 0 1426238317239 " + epoch + " connected" + slots + "\n";
}

}  // namespace

TEST_CASE("redis own slots: they are those of the server that was asked") {
  const std::string other = server("a1", "master", "4", " 5461-10922 [7-<-b2]");
  const auto found = read(other + server("b2", "myself,master", "2", " 0-5460 16000"));
  REQUIRE(found);
  CHECK(found->text == "2 0-5460 16000 ");
  CHECK_FALSE(found->under_way);
}

TEST_CASE("redis own slots: a slot that comes or goes is under way, and one that has come shows in the text") {
  const std::string before = read(server("b2", "myself,master", "2", " 0-5460"))->text;
  for (const std::string under_way : {" 0-5460 [93->-a1]", " 0-5460 [7000-<-a1]"}) {
    const auto found = read(server("b2", "myself,master", "2", under_way));
    CHECK(found->under_way);
  }
  CHECK(read(server("b2", "myself,master", "3", " 0-5460 7000"))->text != before);
  CHECK(read(server("b2", "myself,master", "3", " 0-5460"))->text != before);  // It came and left again.
}

TEST_CASE("redis own slots: a reply without a server of its own tells nothing") {
  CHECK_FALSE(read(""));
  CHECK_FALSE(read("\n\n"));
  CHECK_FALSE(read("b2 myself"));
  CHECK_FALSE(read(server("b2", "master", "2", " 0-5460")));
  CHECK_FALSE(read(server("b2", "notmyself", "2", " 0-5460")));
  RedisReply refused;
  refused.kind = RedisReply::Kind::kError;
  refused.bytes = server("b2", "myself,master", "2", " 0-5460");
  CHECK_FALSE(parse_own_slots(refused));
}
