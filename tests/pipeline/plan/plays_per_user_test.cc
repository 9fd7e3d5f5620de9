#include "pipeline/plan/plays_per_user.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "filter/ladder.h"
#include "filter/stored_bytes.h"
#include "load/load_model.h"

using namespace bloomring;

namespace {

PlaysShape shape_of(const std::string& text) {
  auto shape = PlaysShape::parse(text);
  INFO(shape.status().message());
  REQUIRE(shape.ok());
  return *shape;
}

double mean_of(const PlaysPerUser& users) {
  return users.expect([](uint64_t plays) { return static_cast<double>(plays); });
}

// The share of the users with at most so many plays.
double share_up_to(const PlaysPerUser& users, size_t plays) {
  const auto shares = users.shares().first(std::min(plays + 1, users.shares().size()));
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

std::string refusal_of(const std::string& text) {
  const auto shape = PlaysShape::parse(text);
  REQUIRE(shape.code() == Code::kInvalid);
  return shape.status().message().substr(0, shape.status().message().find("; give"));
}

}  // namespace

TEST_CASE("plays per user: every shape has the mean that was asked for, and its users are all of them") {
  for (const std::string text : {"0", "0.3", "0.82", "1.5", "50=1200,90=6000,99=30000,100=200000", "100=1"}) {
    for (const double mean : {20.0, 700.0, 3381.0}) {
      INFO(text << " " << mean);
      const PlaysPerUser users(shape_of(text), mean);
      CHECK(share_up_to(users, users.shares().size()) == Approx(1).epsilon(1e-9));
      CHECK(mean_of(users) == Approx(mean).epsilon(0.002));
    }
  }
}

TEST_CASE("plays per user: a log-normal shape has its median, and 2.3 % of its users beyond two sigmas on each side") {
  const double sigma = 0.82, mean = 3381, median = mean * std::exp(-sigma * sigma / 2);
  const PlaysPerUser users(shape_of("0.82"), mean);
  CHECK(share_up_to(users, static_cast<size_t>(median)) == Approx(0.5).margin(0.001));
  CHECK(share_up_to(users, static_cast<size_t>(median * std::exp(-2 * sigma))) == Approx(0.02275).margin(0.0005));
  CHECK(share_up_to(users, static_cast<size_t>(median * std::exp(2 * sigma))) == Approx(0.97725).margin(0.0005));
}

TEST_CASE("plays per user: quantiles are met, with their own mean and scaled to another") {
  const PlaysShape shape = shape_of("50=1200,90=6000,99=30000,100=200000");
  const PlaysPerUser own(shape, shape.mean());
  CHECK(share_up_to(own, 1200) == Approx(0.5).margin(0.001));
  CHECK(share_up_to(own, 6000) == Approx(0.9).margin(0.001));
  CHECK(share_up_to(own, 30'000) == Approx(0.99).margin(0.001));
  CHECK(share_up_to(own, 199'000) < 1);
  const PlaysPerUser half(shape, shape.mean() / 2);
  CHECK(share_up_to(half, 600) == Approx(0.5).margin(0.001));
}

TEST_CASE("plays per user: users of sigma 0 all play the mean, and one beyond the cap of a filter counts at the cap") {
  const PlaysPerUser same(shape_of("0"), 100);
  CHECK(share_up_to(same, 99) == 0);
  CHECK(share_up_to(same, 100) == 1);
  const PlaysPerUser heavy(shape_of("100=1000000000"), 900'000);
  CHECK(heavy.shares().size() == filter::kItemsCap + 1);
  CHECK(heavy.shares().back() > 0);
}

TEST_CASE("plays per user: the mean of a function is its sum over all users, not its value at the mean") {
  const PlaysPerUser users(shape_of("0.82"), 3381);
  const auto bytes_of = [](double plays) {
    const auto items = static_cast<uint64_t>(std::max(1.0, std::round(plays)));
    return static_cast<double>(filter::stored_bytes(items, {}, false));
  };
  const double exact = users.expect([&](uint64_t plays) { return bytes_of(static_cast<double>(plays)); });
  LoadRandom random(1);
  double drawn = 0;
  constexpr int kDraws = 2'000'000;
  for (int i = 0; i < kDraws; ++i) {
    drawn += bytes_of(3381 * std::exp(0.82 * random.normal() - 0.82 * 0.82 / 2));
  }
  CHECK(exact == Approx(drawn / kDraws).epsilon(0.004));  // The mean of the draws has a standard error of 0.07 %.
  CHECK(exact > 1.05 * bytes_of(3381));
}

TEST_CASE("plays per user: a shape that is wrong is refused with its wrong part and both right forms") {
  CHECK(refusal_of("heavy") == "'heavy' is no number");
  CHECK(refusal_of("-1") == "'-1': sigma must be from 0 to 3");
  CHECK(refusal_of("4") == "'4': sigma must be from 0 to 3");
  CHECK(refusal_of("nan") == "'nan' is no number");
  CHECK(refusal_of("50=1200,x") == "'x' is not PERCENT=PLAYS");
  CHECK(refusal_of("50=1200,") == "'' is not PERCENT=PLAYS");
  CHECK(refusal_of("0=1,100=2") == "'0=1': percent must be above 0 and at most 100");
  CHECK(refusal_of("101=1") == "'101=1': percent must be above 0 and at most 100");
  CHECK(refusal_of("100=0.5") == "'100=0.5': plays must be from 1 to 1000000000");
  CHECK(refusal_of("50=10,50=20,100=30") ==
        "'50=20' does not ascend: each quantile has a larger percent than the one before it, and as many plays");
  CHECK(refusal_of("50=10,90=5,100=30") ==
        "'90=5' does not ascend: each quantile has a larger percent than the one before it, and as many plays");
  CHECK(refusal_of("50=10,90=20") == "the last quantile must be that of 100 percent, the heaviest user");
  CHECK(PlaysShape::parse("4").status().message().ends_with(
      "; give the sigma of a log-normal distribution, as 0.82, or quantiles of plays a month, as "
      "50=1200,90=6000,99=30000,100=200000"));
  CHECK(shape_of("50=1200,90=6000.5,100=200000").text() == "50=1200,90=6000.5,100=200000");
  CHECK(shape_of("0.82").text() == "0.82");
}
