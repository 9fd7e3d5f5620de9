#include "pipeline/jobs/migrate/key_feed.h"

#include <catch2/catch.hpp>

using namespace bloomring;

namespace {

// Steps of keys from a list; positions count the steps.
class Steps final : public KeySource {
 public:
  explicit Steps(std::vector<std::vector<std::string>> steps) : steps_(std::move(steps)) {}
  Status begin(const std::string& position) override {
    at_ = position.empty() ? 0 : std::stoul(position);
    return {};
  }
  Result<std::optional<std::vector<std::string>>> next() override {
    if (away) return retry("away");
    if (at_ == steps_.size()) return std::optional<std::vector<std::string>>();
    return std::optional(steps_[at_++]);
  }
  std::string position() const override { return std::to_string(at_); }
  Result<uint64_t> total() override { return uint64_t{0}; }
  bool away = false;

 private:
  std::vector<std::vector<std::string>> steps_;
  size_t at_ = 0;
};

struct Bed {
  explicit Bed(std::vector<std::vector<std::string>> steps, KeyFeed::Choice choice = [](uint64_t) { return true; })
      : source(std::move(steps)),
        feed(source, layout, std::move(choice),
             [this](const std::string& key, LegacyRefusal) { refused.push_back(key); }) {
    REQUIRE(feed.begin("").ok());
    REQUIRE(feed.fill().ok());
  }
  LegacySet take(std::string_view key) {
    REQUIRE_FALSE(feed.empty());
    LegacySet set = feed.take();
    CHECK(set.key == key);
    return set;
  }
  const LegacyLayout layout = LegacyLayout::create({}).value();
  Steps source;
  std::vector<std::string> refused;
  KeyFeed feed;
};

}  // namespace

TEST_CASE("key feed: the position passes a step when all that holds it is released, and the steps before it are done") {
  Bed bed({{"hist:1", "hist:2"}, {"hist:3"}, {"hist:4"}});
  const LegacySet one = bed.take("hist:1"), two = bed.take("hist:2");
  REQUIRE(bed.feed.fill().ok());
  const LegacySet three = bed.take("hist:3");
  bed.feed.hold(two.step);  // A block of it.
  bed.feed.release(three.step);
  bed.feed.release(one.step);
  bed.feed.release(two.step);
  CHECK(bed.feed.position().empty());
  bed.feed.release(two.step);
  CHECK(bed.feed.position() == "2");
  REQUIRE(bed.feed.fill().ok());
  CHECK_FALSE(bed.feed.done());
  bed.feed.release(bed.take("hist:4").step);
  REQUIRE(bed.feed.fill().ok());
  CHECK(bed.feed.position() == "3");
  CHECK(bed.feed.done());
}

TEST_CASE("key feed: refused keys are told once, and steps without a set are passed") {
  Bed bed({{"other", "hist:"}, {}, {"hist:1"}});
  CHECK(bed.refused == std::vector<std::string>{"other", "hist:"});
  CHECK(bed.feed.position() == "2");
  bed.feed.release(bed.take("hist:1").step);
  CHECK(bed.feed.position() == "3");
}

TEST_CASE("key feed: shares of the users are whole together, and share no user") {
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back("hist:" + std::to_string(i));
  keys.push_back("other");
  size_t sets = 0, refused = 0;
  for (uint64_t share = 0; share < 3; ++share) {
    Bed bed({keys}, [share](uint64_t hash) { return hash % 3 == share; });
    size_t own = 0;
    for (; !bed.feed.empty(); ++own) bed.feed.release(bed.feed.take().step);
    CHECK(own > 50);
    sets += own;
    refused += bed.refused.size();
  }
  CHECK(sets == 300);
  CHECK(refused == 1);
}

TEST_CASE("key feed: it fetches no more steps than may be under way") {
  std::vector<std::vector<std::string>> steps;
  for (int i = 0; i < 20; ++i) steps.push_back({"hist:" + std::to_string(i)});
  Bed bed(steps);
  std::vector<LegacySet> taken;
  for (int i = 0; i < 20; ++i) {
    REQUIRE(bed.feed.fill().ok());
    if (!bed.feed.empty()) taken.push_back(bed.feed.take());
  }
  CHECK(taken.size() == KeyFeed::kStepsMax);
  bed.feed.release(taken.front().step);
  REQUIRE(bed.feed.fill().ok());
  CHECK_FALSE(bed.feed.empty());
}

TEST_CASE("key feed: a source that is away is asked again") {
  Bed bed({{"hist:1"}, {"hist:2"}});
  bed.feed.release(bed.take("hist:1").step);
  bed.source.away = true;
  CHECK(bed.feed.fill().code() == Code::kRetry);
  CHECK(bed.feed.position() == "1");
  bed.source.away = false;
  REQUIRE(bed.feed.fill().ok());
  bed.take("hist:2");
}
