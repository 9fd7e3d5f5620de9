// The cost of filters, next to the Bloom filters they replace, in one run: bits an item, time of a request, time of
// an update. `bloomring_filter_bench` prints the tables of bench/RESULTS.md; `--part=errors`, which takes minutes,
// measures the error of queries against the computed one and looks for false negatives.
//
// Requests: 10,000 (or 5,000) candidates against 4 periods, 5 % of them seen by that very user, the users' values
// rotated over more than the second-level cache, the candidates in cache; median over the users. The time begins with
// the bytes of values that were verified before (add, run); verifying them has its own column.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "bench/filter_baselines.h"
#include "filter/filter.h"

namespace {

using namespace bloomring;
using namespace bloomring::filter;

constexpr size_t kPeriods = 4;
constexpr size_t kValueBytesMin = 12 << 20;  // Many times the second-level cache.
constexpr size_t kUsersMax = 8192;
constexpr double kSeenPart = 0.05;
const std::string kKey = "bench";

std::string user_name(size_t user) { return std::string(1, '\0') + "user" + std::to_string(user); }

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <typename Work>
double microseconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

std::vector<ItemHash> random_items(size_t count, std::mt19937_64& random) {
  std::vector<ItemHash> items(count);
  for (ItemHash& item : items) item = ItemHash(random());
  return items;
}

std::string stored(std::span<const ItemHash> items, const std::string& user, const Policy& policy, bool folded) {
  std::string value = make(items, user, kKey, policy);
  for (const bool closed : {false, true}) {
    if (closed && !folded) break;
    const std::string_view views[] = {value};
    value = unite(views, kKey, policy, closed).value();
  }
  return value;
}

using Verified = std::shared_ptr<const VerifiedValue>;
Verified verified(std::string value) { return VerifiedValue::verify(std::move(value), kKey).value(); }
Status add(Query& query, const std::string& value) { return query.add(value, kKey); }
Status add(Query& query, const Verified& value) { return query.add(value); }

// One user: the same items in each structure, and some of the items to ask for.
struct User {
  std::string name;
  uint64_t multiplier = 0;
  std::vector<std::string> values;
  std::vector<Verified> verified;  // The same, as a cache holds them.
  std::vector<Verified> folded;    // The newest open, the others folded.
  std::vector<ExactBloom> exact;
  std::vector<GrowingBloom> growing;
  std::vector<ItemHash> seen;
};

User make_user(size_t number, size_t items, const Policy& policy, size_t seen_count, std::mt19937_64& random) {
  User user;
  user.name = user_name(number);
  user.multiplier = user_multiplier(user.name);
  std::vector<ItemHash> all;
  for (size_t period = 0; period < kPeriods; ++period) {
    const std::vector<ItemHash> of_period = random_items(items, random);
    user.values.push_back(stored(of_period, user.name, policy, false));
    user.verified.push_back(verified(user.values.back()));
    user.folded.push_back(verified(stored(of_period, user.name, policy, period > 0)));
    user.exact.emplace_back(items);
    user.growing.emplace_back();
    for (const ItemHash item : of_period) {
      user.exact.back().add(item.value * user.multiplier);
      user.growing.back().add(item.value * user.multiplier);
    }
    all.insert(all.end(), of_period.begin(), of_period.end());
  }
  for (size_t i = 0; i < seen_count; ++i) user.seen.push_back(all[random() % all.size()]);
  return user;
}

enum Way { kOpen, kChecked, kFolded, kPortable, kExact, kGrowing, kWays };
using RequestTimes = std::array<double, kWays>;

RequestTimes time_requests(size_t items, size_t candidate_count, const Policy& policy) {
  std::mt19937_64 random(items);
  const auto seen_count = static_cast<size_t>(static_cast<double>(candidate_count) * kSeenPart);
  std::vector<User> users;
  size_t bytes = 0;
  while (users.size() < 8 || (bytes < kValueBytesMin && users.size() < kUsersMax)) {
    users.push_back(make_user(users.size(), items, policy, seen_count, random));
    for (const std::string& value : users.back().values) bytes += value.size();
  }

  std::vector<ItemHash> candidates = random_items(candidate_count, random);
  std::vector<uint8_t> found(candidate_count);
  Query best;
  Query portable(Query::Simd::kNone);
  const auto ask = [&](Query& query, const User& user, const auto& values) {
    query.clear();
    for (const auto& value : values) {
      if (!add(query, value).ok()) std::abort();
    }
    query.run(candidates, user.name, found);
  };
  // The ways take turns, so that a disturbance of the machine meets all of them.
  const std::function<void(const User&)> ways[kWays] = {
      [&](const User& user) { ask(best, user, user.verified); },
      [&](const User& user) { ask(best, user, user.values); },
      [&](const User& user) { ask(best, user, user.folded); },
      [&](const User& user) { ask(portable, user, user.verified); },
      [&](const User& user) { exact_bloom_query(user.exact, candidates, user.multiplier, found); },
      [&](const User& user) { growing_bloom_query(user.growing, candidates, user.multiplier, found); },
  };
  std::vector<double> times[kWays];
  const size_t rounds = std::max<size_t>(3, 400 / users.size());
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t way = 0; way < kWays; ++way) {
      for (const User& user : users) {
        // Seen ones lie anywhere among the others.
        for (size_t i = 0; i < seen_count; ++i) candidates[i * candidate_count / seen_count] = user.seen[i];
        times[way].push_back(microseconds([&] { ways[way](user); }));
        const auto seen = std::count_if(found.begin(), found.end(), [](uint8_t f) { return f != Query::kUnseen; });
        if (static_cast<size_t>(seen) < seen_count) std::abort();
      }
    }
  }
  RequestTimes result{};
  for (size_t way = 0; way < kWays; ++way) result[way] = median(times[way]);
  return result;
}

void print_requests(const Policy& policy, const std::vector<size_t>& sizes) {
  std::printf("\nns per candidate, %zu periods, %.0f %% seen (request / candidates)\n\n", kPeriods, kSeenPart * 100);
  std::printf(
      "| items a period | candidates | open | with checksums | 1 open + 3 folded | portable | exact SBBF | growing "
      "SBBF | open / exact |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  for (const size_t items : sizes) {
    for (const size_t candidates : {size_t{5'000}, size_t{10'000}}) {
      const RequestTimes times = time_requests(items, candidates, policy);
      const double ns = 1000.0 / static_cast<double>(candidates);
      std::printf("| %zu | %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", items, candidates,
                  times[kOpen] * ns, times[kChecked] * ns, times[kFolded] * ns, times[kPortable] * ns,
                  times[kExact] * ns, times[kGrowing] * ns, times[kOpen] / times[kExact]);
      std::fflush(stdout);
    }
  }
}

// A value that grew in batches, as in life: items after the planned size are wide.
std::string grown(std::span<const ItemHash> items, const std::string& user, const Policy& policy) {
  std::string value;
  const size_t batch = std::max<size_t>(1000, items.size() / 8);
  for (size_t at = 0; at < items.size(); at += batch) {
    const std::string more = make(items.subspan(at, std::min(items.size() - at, batch)), user, kKey, policy);
    std::vector<std::string_view> views{more};
    if (!value.empty()) views.push_back(value);
    value = unite(views, kKey, policy, false).value();
  }
  return value;
}

// Long: over a hundred million member probes, and unseen ones until the error is known to about a hundredth.
void print_errors(const Policy& policy, const std::vector<size_t>& sizes) {
  constexpr uint64_t kMemberProbesMin = 26'000'000;
  constexpr uint64_t kUnseenProbesMin = 12'000'000;
  constexpr double kFalsePositivesMin = 20'000;
  std::printf("\nerror of a query over %zu periods\n\n", kPeriods);
  std::printf(
      "| items a period | users | unseen probes | found | measured %% | computed %% | measured / computed | member "
      "probes | missed |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|\n");
  uint64_t members_in_all = 0;
  for (const size_t items : sizes) {
    std::mt19937_64 random(items + 1);
    const uint64_t users = kMemberProbesMin / (items * kPeriods) + 1;
    uint64_t unseen = 0, false_positives = 0, members = 0, missed = 0;
    double expected = 0;
    for (uint64_t u = 0; u < users; ++u) {
      const std::string name = user_name(u);
      std::vector<std::string> values;
      std::vector<ItemHash> all;
      Query query;
      for (size_t period = 0; period < kPeriods; ++period) {
        const std::vector<ItemHash> of_period = random_items(items, random);
        values.push_back(grown(of_period, name, policy));
        all.insert(all.end(), of_period.begin(), of_period.end());
      }
      for (const std::string& value : values) {
        if (!query.add(value, kKey).ok()) std::abort();
      }
      std::vector<uint8_t> found(all.size());
      query.run(all, name, found);
      members += all.size();
      missed += static_cast<uint64_t>(std::count(found.begin(), found.end(), Query::kUnseen));

      const double probes_wanted = std::max<double>(kUnseenProbesMin, kFalsePositivesMin / query.expected_error());
      auto left = static_cast<uint64_t>(probes_wanted / static_cast<double>(users)) + 1;
      expected += query.expected_error() * static_cast<double>(left);
      while (left > 0) {
        const std::vector<ItemHash> probes = random_items(std::min<uint64_t>(left, 100'000), random);
        found.resize(probes.size());
        query.run(probes, name, found);
        unseen += probes.size();
        left -= probes.size();
        false_positives +=
            probes.size() - static_cast<uint64_t>(std::count(found.begin(), found.end(), Query::kUnseen));
      }
    }
    members_in_all += members;
    const double measured = static_cast<double>(false_positives) / static_cast<double>(unseen);
    const double computed = expected / static_cast<double>(unseen);
    std::printf("| %zu | %llu | %llu | %llu | %.5f | %.5f | %.4f | %llu | %llu |\n", items,
                static_cast<unsigned long long>(users), static_cast<unsigned long long>(unseen),
                static_cast<unsigned long long>(false_positives), measured * 100, computed * 100, measured / computed,
                static_cast<unsigned long long>(members), static_cast<unsigned long long>(missed));
    std::fflush(stdout);
  }
  std::printf("\n%llu member probes in all\n", static_cast<unsigned long long>(members_in_all));
}

void print_sizes(const Policy& policy, const std::vector<size_t>& sizes) {
  std::printf("\nbits per item, everything included\n\n");
  std::printf(
      "| items | form | bytes | open | without header and checksum | log2(1/e) of it | ratio | folded | exact SBBF at "
      "0.25 %% | growing SBBF |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  std::mt19937_64 random(7);
  for (const size_t items : sizes) {
    const std::vector<ItemHash> all = random_items(items, random);
    const std::string value = grown(all, user_name(0), policy);
    const std::string_view views[] = {value};
    const std::string folded = unite(views, kKey, policy, true).value();
    const Summary summary = summarize(value, kKey).value();
    GrowingBloom growing;
    for (const ItemHash item : all) growing.add(item.value);
    const double bits = 8.0 / static_cast<double>(items);
    // Magic, flags, width, count, checksum; dense values have 16 bytes before the index.
    const size_t frame = summary.form == Summary::Form::kDense ? 20 : items < 128 ? 8 : 9;
    const double limit = -std::log2(summary.expected_error);
    std::printf("| %zu | %s%s | %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", items,
                summary.form == Summary::Form::kDense ? "dense" : "sparse", summary.sets == 2 ? ", 2 sets" : "",
                value.size(), static_cast<double>(value.size()) * bits,
                static_cast<double>(value.size() - frame) * bits, limit,
                static_cast<double>(value.size()) * bits / limit, static_cast<double>(folded.size()) * bits,
                static_cast<double>(ExactBloom(items).bytes()) * bits, static_cast<double>(growing.bytes()) * bits);
  }
}

void print_updates(const Policy& policy, const std::vector<size_t>& sizes) {
  std::printf("\nmicroseconds per update (verify, decode, unite, encode, checksum; the operand is made outside)\n\n");
  std::printf("| items | + 12 | + 50 | + 50 known | bytes of 12 as an operand |\n|---|---|---|---|---|\n");
  std::mt19937_64 random(8);
  for (const size_t items : sizes) {
    const std::vector<ItemHash> all = random_items(items, random);
    const std::string base = stored(all, user_name(0), policy, false);
    const auto update = [&](const std::string& more) {
      std::vector<double> times;
      for (int i = 0; i < 31; ++i) {
        times.push_back(microseconds([&] {
          const std::string_view views[] = {base, more};
          if (!unite(views, kKey, policy, false).ok()) std::abort();
        }));
      }
      return median(times);
    };
    const std::string twelve = make(random_items(12, random), user_name(0), kKey, policy);
    const std::string fifty = make(random_items(50, random), user_name(0), kKey, policy);
    const std::string known = make(std::span(all).first(std::min<size_t>(items, 50)), user_name(0), kKey, policy);
    std::printf("| %zu | %.1f | %.1f | %.1f | %zu |\n", items, update(twelve), update(fifty), update(known),
                twelve.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Policy policy;
  std::vector<size_t> sizes;
  std::string part = "all";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--dense-from=")) {
      policy.dense_from_items = static_cast<uint32_t>(std::stoul(argument.substr(13)));
    } else if (argument.starts_with("--items=")) {
      sizes.push_back(std::stoul(argument.substr(8)));
    } else if (argument.starts_with("--part=")) {
      part = argument.substr(7);
    } else {
      std::printf(
          "usage: bloomring_filter_bench [--part=sizes|requests|updates|errors] [--items=N]... [--dense-from=N]\n");
      return argument == "--help" ? 0 : 2;
    }
  }
  const auto or_default = [&](std::vector<size_t> defaults) { return sizes.empty() ? defaults : sizes; };
  if (part == "all" || part == "sizes")
    print_sizes(policy, or_default({1, 16, 100, 1'000, 3'000, 4'096, 10'000, 100'000, 1'000'000}));
  if (part == "all" || part == "requests")
    print_requests(policy, or_default({16, 100, 1'000, 3'000, 10'000, 30'000, 100'000}));
  if (part == "errors") print_errors(policy, or_default({1'000, 10'000, 100'000, 1'000'000}));
  if (part == "all" || part == "updates")
    print_updates(policy, or_default({16, 100, 1'000, 3'000, 10'000, 30'000, 100'000}));
  return 0;
}
