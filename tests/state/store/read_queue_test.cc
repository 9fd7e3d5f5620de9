#include "state/store/read_queue.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <sstream>
#include <string>

namespace bloomring {
namespace {

struct NamedRead final : FilterRead {
  NamedRead(char caller_name, int read_number) : name(caller_name), number(read_number) {}
  std::span<const UserPeriods> users() const override { return {}; }
  uint64_t caller() const override { return static_cast<uint64_t>(name); }
  void end(std::vector<Result<StoredUser>>) override {}
  void refuse() override {}

  const char name;
  const int number;
};

std::string text(const std::shared_ptr<FilterRead>& read) {
  if (!read) return "";
  const auto& named = static_cast<const NamedRead&>(*read);
  return named.name + std::to_string(named.number);
}

// Pushes reads such as "A1 B1" and returns those that lost their places.
std::string push(ReadQueue& queue, const std::string& reads) {
  std::string lost;
  std::istringstream names(reads);
  for (std::string name; names >> name;) {
    const std::string read = text(queue.push(std::make_shared<NamedRead>(name[0], std::stoi(name.substr(1)))));
    if (!read.empty()) lost += (lost.empty() ? "" : " ") + read;
  }
  return lost;
}

std::string pop_all(ReadQueue& queue) {
  std::string order;
  while (!queue.empty()) order += (order.empty() ? "" : " ") + text(queue.pop());
  return order;
}

}  // namespace

TEST_CASE("read queue: callers take turns, and the reads of each keep their order") {
  ReadQueue queue(100);
  CHECK(push(queue, "A1 A2 A3 B1 C1 C2").empty());
  CHECK(queue.reads() == 6);
  CHECK(pop_all(queue) == "A1 B1 C1 A2 C2 A3");
  CHECK(queue.callers() == 0);
}

TEST_CASE("read queue: a caller that comes while others take turns is next after each of them had one") {
  ReadQueue queue(100);
  CHECK(push(queue, "A1 A2 A3 B1 B2").empty());
  CHECK(text(queue.pop()) == "A1");
  CHECK(push(queue, "C1").empty());
  CHECK(pop_all(queue) == "B1 A2 C1 B2 A3");
}

TEST_CASE("read queue: a caller with 200 reads loses its own oldest one, not another caller's only one") {
  ReadQueue queue(200);
  for (int i = 1; i <= 200; ++i) CHECK(push(queue, "A" + std::to_string(i)).empty());
  CHECK(push(queue, "B1") == "A1");
  for (int i = 201; i <= 400; ++i) CHECK(push(queue, "A" + std::to_string(i)) == "A" + std::to_string(i - 199));
  CHECK(text(queue.pop()) == "A202");
  CHECK(text(queue.pop()) == "B1");
  CHECK(text(queue.pop()) == "A203");
}

TEST_CASE("read queue: of one caller, and of callers with a read each, the oldest read goes") {
  ReadQueue of_one(2);
  CHECK(push(of_one, "A1 A2 A3 A4") == "A1 A2");
  CHECK(pop_all(of_one) == "A3 A4");
  ReadQueue of_three(2);
  CHECK(push(of_three, "A1 B1 C1") == "A1");
  CHECK(pop_all(of_three) == "B1 C1");
  ReadQueue smallest(1);
  CHECK(push(smallest, "A1 B1") == "A1");
  CHECK(pop_all(smallest) == "B1");
}

TEST_CASE("read queue: ten thousand callers do not make it larger than its bound") {
  struct Numbered final : FilterRead {
    explicit Numbered(uint64_t caller) : id(caller) {}
    std::span<const UserPeriods> users() const override { return {}; }
    uint64_t caller() const override { return id; }
    void end(std::vector<Result<StoredUser>>) override {}
    void refuse() override {}
    const uint64_t id;
  };
  ReadQueue queue(256);
  uint64_t lost = 0;
  for (uint64_t caller = 0; caller < 10'000; ++caller) {
    const auto read = queue.push(std::make_shared<Numbered>(caller));
    if (read) REQUIRE(read->caller() == lost++);
    REQUIRE(queue.reads() <= 256);
    REQUIRE(queue.callers() == queue.reads());
  }
  CHECK(lost == 10'000 - 256);
}

// Against plain lists: whatever comes, nobody loses a read while another caller has more.
TEST_CASE("read queue: only a caller with the most reads ever loses one, and each caller's order stays") {
  std::mt19937 random(5);
  ReadQueue queue(20);
  std::map<char, std::deque<std::string>> expected;
  int next = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 5 < 2 && !queue.empty()) {
      const std::string read = text(queue.pop());
      REQUIRE(expected[read[0]].front() == read);
      expected[read[0]].pop_front();
      continue;
    }
    const char caller = static_cast<char>('A' + std::min(random() % 8, random() % 8));
    expected[caller].push_back(caller + std::to_string(++next));
    const std::string lost = push(queue, expected[caller].back());
    size_t all = 0, most = 0;
    for (const auto& [name, reads] : expected) {
      all += reads.size();
      most = std::max(most, reads.size());
    }
    REQUIRE(lost.empty() == (all <= 20));
    if (lost.empty()) continue;
    REQUIRE(expected[lost[0]].size() == most);
    REQUIRE(expected[lost[0]].front() == lost);
    expected[lost[0]].pop_front();
  }
}

}  // namespace bloomring
