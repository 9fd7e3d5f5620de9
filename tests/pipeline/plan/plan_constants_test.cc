#include "pipeline/plan/plan_constants.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

using namespace bloomring;

namespace {

// A line break and the spaces around it are one space.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool space = c == ' ' || c == '\n';
    if (!space || !line.ends_with(' ')) line += space ? ' ' : c;
  }
  return line;
}

// The text of each section of bench/RESULTS.md, by the text of its heading.
std::map<std::string, std::string, std::less<>> sections() {
  std::ifstream file(BLOOMRING_RESULTS);
  REQUIRE(file);
  std::map<std::string, std::string, std::less<>> texts;
  std::string heading;
  for (std::string line; std::getline(file, line);) {
    const size_t mark = line.find_first_not_of('#');
    if (mark != 0 && mark != std::string::npos && line[mark] == ' ')
      heading = line.substr(mark + 1);
    else
      texts[heading] += line + "\n";
  }
  for (auto& [name, text] : texts) text = on_one_line(text);
  return texts;
}

}  // namespace

TEST_CASE("plan constants: each that is measured stands in the section of bench/RESULTS.md that it names") {
  const auto texts = sections();
  REQUIRE(texts.size() > 10);
  size_t measured = 0;
  for (const PlanConstant* constant : plan_constants()) {
    INFO(constant->name);
    for (const PlanSource& source : constant->sources) {
      if (source.section.empty()) continue;
      ++measured;
      INFO("bench/RESULTS.md, " << source.section << ": " << source.quote);
      const auto section = texts.find(source.section);
      REQUIRE(section != texts.end());
      CHECK(section->second.find(source.quote) != std::string::npos);
      CHECK(!source.quote.empty());
    }
  }
  CHECK(measured > 15);
}

TEST_CASE("plan constants: each has a name of its own, a range that ascends, and says how it was got") {
  std::set<std::string_view> names;
  for (const PlanConstant* constant : plan_constants()) {
    INFO(constant->name);
    CHECK(names.insert(constant->name).second);
    CHECK(constant->value.low > 0);
    CHECK(constant->value.low <= constant->value.mid);
    CHECK(constant->value.mid <= constant->value.high);
    CHECK(!constant->reason.empty());
    CHECK((constant->assumed() ? constant->sources[1].section.empty() : true));
  }
}

// The figures of a range stand in its quotes, so that a changed quote is a changed constant. Others are computed from
// them, as their reason says.
TEST_CASE("plan constants: the ends of a range that is quoted are the quoted ones") {
  const auto quoted = [](const PlanConstant& constant, const std::string& number) {
    for (const PlanSource& source : constant.sources) {
      if (source.quote.find(number) != std::string_view::npos) return true;
    }
    return false;
  };
  const auto text = [](double value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  for (const PlanConstant* constant :
       {&kChainCpu, &kIngestCpu, &kPlayRecordBytes, &kMergeRedis, &kCallCpu, &kRecentPlayBytes, &kServerMemory,
        &kSortedSetEntry}) {
    INFO(constant->name);
    CHECK(quoted(*constant, text(constant->value.low)));
    CHECK(quoted(*constant, text(constant->value.high)));
  }
  CHECK(kWindowRebuild.value.low == 7.6e6);
  CHECK(quoted(kWindowRebuild, "7.6"));
  CHECK(kReplicaCpu.value.low == 1 / 9.5);
  CHECK(quoted(kReplicaCpu, "9.5"));
}
