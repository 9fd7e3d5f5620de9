// The laws of the questions of a load test: users by their plays, candidates within bounds, what is called played was.
#include "load/load_questions.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using namespace bloomring;

namespace {

LoadConfig small_load() {
  LoadConfig config;
  config.users = 200;
  config.plays = 60'000;
  config.items = 5'000;
  config.start_ms = 1'792'800'000'000;
  return config;
}

std::map<std::string, std::set<std::string>> oracle(const LoadConfig& config, uint32_t id_bytes) {
  std::map<std::string, std::set<std::string>> played;
  LoadModel model(config);
  std::string user, item;
  for (LoadPlay play; model.next(play);) {
    write_user_id(play, id_bytes, user);
    write_item_id(play, id_bytes, item);
    played[user].insert(item);
  }
  return played;
}

std::vector<std::string> items_of(const LoadQuestion& question) {
  std::vector<std::string> items;
  size_t begin = 0;
  for (const char size : question.lengths) {
    const auto length = static_cast<uint8_t>(size);
    items.push_back(question.items.substr(begin, length));
    begin += length;
  }
  return items;
}

// A file that is gone at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() / "load_questions_XXXXXX") {
    std::string name = path_.string();
    const int fd = mkstemp(name.data());
    REQUIRE(fd >= 0);
    close(fd);
    path_ = name;
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

constexpr int64_t kNowMs = 1'795'000'000'000;
const Calendar kCalendar = Calendar::create({}).value();

Result<PlayedItems> read(const TemporaryFile& file, const std::string& scene = "", const PlayMapping& mapping = {},
                         PeriodIndex oldest = PeriodIndex(0)) {
  return PlayedItems::from_file(file.path(), mapping, scene, kNowMs, kCalendar, oldest);
}

}  // namespace

TEST_CASE("load questions: what is called played was played by this user, and nothing else was") {
  const LoadConfig config = small_load();
  const auto played = oracle(config, 12);
  const PlayedItems items = PlayedItems::generated(config, 12, kCalendar, PeriodIndex(0));
  LoadQuestions questions(items, {.candidates_min = 100, .candidates_max = 300});
  LoadQuestion question;
  uint64_t candidates = 0, seen = 0;
  for (int i = 0; i < 500; ++i) {
    questions.next(question);
    const std::vector<std::string> asked = items_of(question);
    REQUIRE(asked.size() >= 100);
    REQUIRE(asked.size() <= 300);
    const auto& exact = played.at(question.user);
    const std::set<uint32_t> marked(question.played.begin(), question.played.end());
    REQUIRE(marked.size() == question.played.size());
    std::set<std::string> different;
    for (uint32_t c = 0; c < asked.size(); ++c) {
      CHECK(exact.contains(asked[c]) == marked.contains(c));
      if (marked.contains(c)) different.insert(asked[c]);
    }
    CHECK(different.size() == marked.size());
    candidates += asked.size();
    seen += marked.size();
  }
  const double part = static_cast<double>(seen) / static_cast<double>(candidates);
  CHECK(part > 0.15);
  CHECK(part < 0.20);  // 0.175 on average: all users have played more than 30 % of 300.
}

TEST_CASE("load questions: users are asked about as often as they play") {
  const LoadConfig config = small_load();
  const PlayedItems items = PlayedItems::generated(config, 0, kCalendar, PeriodIndex(0));
  LoadModel model(config);
  std::map<std::string, uint64_t> asked;
  LoadQuestions questions(items, {.candidates_min = 1, .candidates_max = 1});
  LoadQuestion question;
  constexpr int kQuestions = 60'000;
  for (int i = 0; i < kQuestions; ++i) {
    questions.next(question);
    ++asked[question.user];
  }
  for (uint32_t user = 0; user < 20; ++user) {
    std::string id;
    items.user_id(user, id);
    const double expected = static_cast<double>(model.plays_of(user));
    CHECK(static_cast<double>(asked[id]) == Approx(expected).epsilon(0.2).margin(20));
  }
}

TEST_CASE("load questions: a user who has played little is asked about all of it") {
  const std::string v1 = R"({"user":"a","item":"v1","time":1790000000000})";
  const std::string v7 = R"({"user":"a","item":7,"time":1790000000001})";
  TemporaryFile file(v1 + "\n" + v1 + "\n" + v7 + "\n");
  const PlayedItems items = read(file).value();
  CHECK(items.users() == 1);
  CHECK(items.plays() == 3);
  CHECK(items.items_of(0) == 2);
  LoadQuestions questions(items, {.candidates_min = 50, .candidates_max = 50, .seen_min = 0.3, .seen_max = 0.3});
  LoadQuestion question;
  questions.next(question);
  REQUIRE(question.played.size() == 2);
  const std::vector<std::string> asked = items_of(question);
  CHECK(std::set<std::string>{asked[question.played[0]], asked[question.played[1]]} ==
        std::set<std::string>{"7", "v1"});
}

TEST_CASE("load questions: a line that is no play is passed over and named") {
  TemporaryFile file("{\"user\":\"a\",\"item\":\"v1\",\"time\":1790000000000}\n{\"user\":\"a\"}\n");
  const auto items = read(file);
  REQUIRE(items.status().message() == "");
  CHECK(items->plays() == 1);
  CHECK(items->refused() == 1);
  CHECK_THAT(items->first_refusal(), Catch::StartsWith("record 2 would be refused as missing_field: ") &&
                                         Catch::EndsWith(": {\"user\":\"a\"}"));
}

TEST_CASE("load questions: a site's own fields are read by its mapping, and without it the way out is named") {
  TemporaryFile file("{\"uid\":1,\"video_id\":\"v4001\",\"ts\":1790000000}\n");
  PlayMapping site;
  site.user = "uid";
  site.item = "video_id";
  site.time = "ts";
  site.time_unit = TimeUnit::kSeconds;
  CHECK(read(file, "", site)->plays() == 1);
  const auto refused = read(file);
  REQUIRE(refused.code() == Code::kInvalid);
  CHECK_THAT(refused.status().message(), Catch::Contains("record 1 would be refused as missing_field: ") &&
                                             Catch::Contains("`events`") && Catch::EndsWith("with --config"));
}

TEST_CASE("load questions: plays of another scene, of nobody and what is forgotten are not asked about") {
  const std::string play = R"({"user":"a","item":"v1","time":1790000000000,"scene":"feed"})";
  TemporaryFile file(play + "\n" + R"({"user":"a","item":"v2","time":1790000000000,"scene":"feed"})" + "\n" +
                     R"({"user":"a","item":"v1","time":1790000000001,"scene":"feed","event":"forget"})" + "\n" +
                     R"({"user":"a","item":"v3","time":1790000000001,"scene":"feed","event":"serve"})" + "\n");
  CHECK(read(file, "feed")->plays() == 1);
  CHECK(read(file).status().message() == file.path() + ": no play is without a scene, but one is of scene feed: "
                                                       "name it with --scene");
  CHECK_THAT(read(file, "comics").status().message(), Catch::Contains("no play is of scene comics, but one is of "));
  TemporaryFile cleared(play + "\n" +
                        R"({"user":"a","time":1790000000001,"scene":"feed","event":"forget_all"})" + "\n");
  CHECK(read(cleared, "feed").code() == Code::kInvalid);
}

TEST_CASE("load questions: what is older than the periods that a query reads does not count as played") {
  const std::string old = R"({"user":"a","item":"v1","time":1780000000000})";  // 2026-05.
  const std::string young = R"({"user":"a","item":"v2","time":1790000000000})";  // 2026-09.
  const TemporaryFile file(old + "\n" + young + "\n");
  const PeriodIndex oldest = kCalendar.window(kNowMs).back();  // 2026-08.
  const PlayedItems items = read(file, "", {}, oldest).value();
  CHECK(items.too_old() == 1);
  REQUIRE(items.items_of(0) == 1);
  std::string id;
  items.item_id(0, 0, id);
  CHECK(id == "v2");
  CHECK_FALSE(read(TemporaryFile(old), "", {}, oldest).ok());
}
