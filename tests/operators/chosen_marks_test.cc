// An event whose item was chosen so that its mark would be that of somebody else's event, if marks were mixed with
// public numbers.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <string>

#include "base/hash.h"
#include "operators/ingest.h"

namespace bloomring {
namespace {

constexpr int64_t kNowMs = 1'795'000'000'000;

// The factors of user, item and time that marks once had; all odd.
constexpr uint64_t kUser = 0x9e3779b97f4a7c15, kItem = 0xc2b2ae3d27d4eb4f, kTime = 0x165667b19e3779f9;

// Of an odd number, modulo 2^64.
uint64_t inverse(uint64_t factor) {
  uint64_t result = factor;
  for (int i = 0; i < 6; ++i) result *= 2 - factor * result;
  return result;
}

// The eight bytes whose XXH3 with seed 0 this is: its steps for eight bytes, each undone.
std::string id_with_hash(uint64_t hash) {
  constexpr uint64_t kFactor = 0x9fb21c651e98df25;
  uint64_t word = hash ^ hash >> 28 ^ hash >> 56;
  word *= inverse(kFactor);
  word ^= (word >> 35) + 8;
  word *= inverse(kFactor);
  for (int i = 0; i < 63; ++i) word ^= std::rotl(word, 49) ^ std::rotl(word, 24);  // The 64th power is the identity.
  word ^= 0x1cad21f72c81017c ^ 0xdb979083e96dd4de;
  std::string id;
  for (const unsigned shift : {32, 40, 48, 56, 0, 8, 16, 24}) id.push_back(static_cast<char>(word >> shift));
  return id;
}

bool is_plain(const std::string& id) {
  return std::ranges::all_of(id, [](char c) { return c > ' ' && c < 127 && c != '"' && c != '\\'; });
}

std::string play(const std::string& user, const std::string& item, int64_t time_ms) {
  return R"({"user":")" + user + R"(","item":")" + item + R"(","time":)" + std::to_string(time_ms) + "}";
}

}  // namespace

TEST_CASE("ingest: nobody can send an event that makes another user's event a repeat") {
  const uint64_t victim = user_hash(UserKey("", "victim").bytes()), sender = user_hash(UserKey("", "sender").bytes());
  const auto when = [](int64_t time_ms) { return static_cast<uint64_t>(time_ms) | uint64_t{1} << 56; };  // A play.
  const uint64_t wanted = victim * kUser ^ item_hash("v4711").value * kItem ^ when(kNowMs) * kTime;
  std::string chosen;
  int64_t time_ms = kNowMs;
  while (chosen.empty()) {
    --time_ms;
    const uint64_t item = (wanted ^ sender * kUser ^ when(time_ms) * kTime) * inverse(kItem);
    const std::string id = id_with_hash(item);
    REQUIRE(item_hash(id).value == item);
    if (is_plain(id)) chosen = id;
  }
  IngestConfig config;
  config.partition_count = 10;
  Ingest ingest(config);
  REQUIRE(ingest.take(play("sender", chosen, time_ms), IngestTime::at(kNowMs)).packed);
  CHECK(ingest.take(play("victim", "v4711", kNowMs), IngestTime::at(kNowMs)).packed);
}

}  // namespace bloomring
