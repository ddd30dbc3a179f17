#include "podere/tune/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/sha256.h"
#include "podere/tune/searches.h"

namespace podere::tune {
namespace {

Space space_of(const std::string& text) { return Space::from_toml(text, "space.toml"); }

const char* const kMixed = R"(
rate = { low = 1e-5, high = 1.0, log = true }
depth = { low = 1, high = 12 }
share = { low = 0.1, high = 1.0, step = 0.1 }
growth = ["level", "best-first"]
leaves = { low = 8, high = 512, log = true, when = { growth = "best-first" } }
bins = 256
)";

std::vector<Json> grid_of(const std::string& text) {
  const auto grid = grid_search(space_of(text));
  std::vector<Json> settings;
  for (std::size_t i = 0; i < *grid->n_most(); ++i) settings.push_back(grid->suggest(i, {}));
  return settings;
}

std::string refusal_of(const std::string& search, const std::string& text) {
  try {
    search_called(search, space_of(text), 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GridSearch, RunsThroughAllSettings) {
  std::vector<std::string> settings;
  for (const Json& setting : grid_of("a = [1, 2]\nb = { low = 0.5, high = 1.0, step = 0.25 }\nc = 7")) {
    settings.push_back(setting.dump());
  }
  EXPECT_EQ(settings, (std::vector<std::string>{R"({"a":1,"b":0.5,"c":7})", R"({"a":1,"b":0.75,"c":7})",
                                                R"({"a":1,"b":1.0,"c":7})", R"({"a":2,"b":0.5,"c":7})",
                                                R"({"a":2,"b":0.75,"c":7})", R"({"a":2,"b":1.0,"c":7})"}));
}

TEST(GridSearch, HasConditionalSettingsOnce) {
  const std::vector<Json> settings = grid_of(R"(
a = ["x", "y", "z"]
b = { low = 1, high = 4, when = { a = ["x", "z"] } }
c = { choices = [true, false], when = { b = [2, 3] } }
d = [1, 2]
e = { value = 5, when = { a = "y" } }
)");
  EXPECT_EQ(settings.size(), (2 * (1 + 2 + 2 + 1) + 1) * 2);
  std::set<std::string> different;
  for (const Json& setting : settings) {
    different.insert(setting.dump());
    EXPECT_EQ(setting.contains("b"), setting["a"] != "y");
    EXPECT_EQ(setting.contains("c"), setting.contains("b") && (setting["b"] == 2 || setting["b"] == 3));
    EXPECT_EQ(setting.contains("e"), setting["a"] == "y");
  }
  EXPECT_EQ(different.size(), settings.size());
}

TEST(GridSearch, OfFixedValuesIsOneSetting) {
  EXPECT_EQ(grid_of("a = 1\nb = 'x'"), std::vector<Json>{Json::parse(R"({"a": 1, "b": "x"})")});
}

TEST(GridSearch, HasAllIntegersOfALogarithmicRange) {
  const std::vector<Json> settings = grid_of("a = { low = 3, high = 20, log = true }");
  ASSERT_EQ(settings.size(), 18U);
  EXPECT_EQ(settings.back()["a"], 20);
}

TEST(GridSearch, RefusesWhatHasNoEndOrIsTooLarge) {
  EXPECT_EQ(refusal_of("grid", "a = { low = 0.0, high = 1.0 }"),
            "a: a grid needs its values, and a range of real numbers has no end of them; give a step or list choices, "
            "or choose another search");
  EXPECT_EQ(refusal_of("grid", "a = { low = 0.1, high = 1.0, log = true }").find("; list choices, or choose"), 74U);
  EXPECT_EQ(refusal_of("grid", "a = { low = 1, high = 1000 }\nb = { low = 1, high = 1000 }"), "accepted");
  const std::string message =
      "the grid has more than 1000000 settings; give larger steps or fewer choices, or another search";
  EXPECT_EQ(refusal_of("grid", "a = { low = 1, high = 1000 }\nb = { low = 1, high = 1001 }"), message);
  EXPECT_EQ(refusal_of("grid", "a = { low = 0, high = 9007199254740991 }"), message);
  EXPECT_EQ(refusal_of("grid", "a = [1, 2]\nb = { low = 0, high = 999999, when = { a = 1 } }"), message);
  const auto grid = grid_search(space_of("a = [1, 2]"));
  EXPECT_THROW(grid->suggest(2, {}), InputError);
}

TEST(RandomSearch, IsUniformOrUniformInTheLogarithm) {
  const auto search = random_search(space_of(kMixed), 3);
  constexpr int kTrials = 4000;
  std::map<int, int> depths;
  std::map<int, int> decades;
  std::map<std::string, int> growths;
  std::map<int, int> shares;
  int few_leaves = 0;
  for (std::size_t i = 0; i < kTrials; ++i) {
    const Json setting = search->suggest(i, {});
    ++depths[setting["depth"].get<int>()];
    ++decades[static_cast<int>(std::floor(std::log10(setting["rate"].get<double>())))];
    ++growths[setting["growth"].get<std::string>()];
    ++shares[static_cast<int>(std::lround(setting["share"].get<double>() * 10))];
    ASSERT_EQ(setting.contains("leaves"), setting["growth"] == "best-first");
    if (setting.contains("leaves")) few_leaves += setting["leaves"].get<int>() < 64 ? 1 : 0;
  }
  const auto expect_uniform = [](const auto& counts, std::size_t n) {
    EXPECT_EQ(counts.size(), n);
    const double expected = kTrials / static_cast<double>(n);
    for (const auto& [value, count] : counts) EXPECT_NEAR(count, expected, 4 * std::sqrt(expected)) << value;
  };
  expect_uniform(depths, 12);
  expect_uniform(decades, 5);
  expect_uniform(growths, 2);
  expect_uniform(shares, 10);
  EXPECT_NEAR(few_leaves, 0.25 * kTrials, 4 * std::sqrt(0.25 * kTrials));
}

TEST(SobolSearch, HasOneOfAnyRunOfPointsInEachSlice) {
  const auto search = sobol_search(space_of("a = { low = 0.0, high = 64.0 }\nb = { low = 0, high = 63 }"), 5);
  for (const std::size_t begin : {0, 64, 640}) {
    std::set<int> as;
    std::set<int> bs;
    for (std::size_t i = begin; i < begin + 64; ++i) {
      const Json setting = search->suggest(i, {});
      as.insert(static_cast<int>(setting["a"].get<double>()));
      bs.insert(setting["b"].get<int>());
    }
    EXPECT_EQ(as.size(), 64U);
    EXPECT_EQ(bs.size(), 64U);
  }
}

TEST(SobolSearch, RefusesMoreDimensionsThanItHas) {
  std::string text = "fixed = 1\n";
  for (int i = 0; i < 40; ++i) text += "p" + std::to_string(i) + " = [1, 2]\n";
  EXPECT_EQ(refusal_of("sobol", text), "accepted");
  EXPECT_EQ(refusal_of("sobol", text + "last = [1, 2]"),
            "sobol has 40 dimensions, and 41 parameters of the space are not fixed; choose random or tpe");
}

using Loss = double (*)(const Json&);

double number(const Json& setting, const char* name) { return setting.at(name).get<double>(); }

double sphere(const Json& s) {
  return std::pow(number(s, "x") - 1, 2) + std::pow(number(s, "y") + 2, 2) + std::pow(number(s, "z"), 2);
}

double branin(const Json& s) {
  const double x = number(s, "x");
  const double y = number(s, "y");
  return std::pow(y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6, 2) + 10 * (1 - 1 / (8 * M_PI)) * std::cos(x) +
         10;
}

/// The conditional parameter matters most.
double of_mixed(const Json& s) {
  const double leaves = s.contains("leaves") ? std::pow(std::log2(number(s, "leaves")) - 6, 2) : 6;
  return std::pow(std::log10(number(s, "rate")) + 2, 2) + std::pow(number(s, "depth") - 7, 2) / 5 + leaves +
         std::abs(number(s, "share") - 0.8);
}

double best_of(const std::string& name, const Space& space, Loss loss, std::uint64_t seed, std::size_t n_trials) {
  const auto search = search_called(name, space, seed);
  std::vector<Observation> seen;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t trial = 0; trial < n_trials; ++trial) {
    Json setting = search->suggest(trial, seen);
    const double value = loss(setting);
    best = std::min(best, value);
    seen.push_back({.trial = trial, .setting = std::move(setting), .loss = value, .budget = 1});
  }
  return best;
}

double median_of(const std::string& name, const Space& space, Loss loss) {
  std::vector<double> best;
  for (std::uint64_t seed = 0; seed < 20; ++seed) best.push_back(best_of(name, space, loss, seed, 60));
  std::ranges::sort(best);
  return (best[9] + best[10]) / 2;
}

TEST(TpeSearch, FindsBetterSettingsThanRandomSearch) {
  const std::string x = "x = { low = -5.0, high = 10.0 }\n";
  const Space cube = space_of(x + "y = { low = -10.0, high = 10.0 }\nz = { low = -10.0, high = 10.0 }");
  const Space square = space_of(x + "y = { low = 0.0, high = 15.0 }");
  const Space mixed = space_of(kMixed);
  EXPECT_LT(median_of("tpe", cube, sphere), 0.3 * median_of("random", cube, sphere));
  constexpr double kLeastBranin = 0.397887;
  EXPECT_LT(median_of("tpe", square, branin) - kLeastBranin,
            0.5 * (median_of("random", square, branin) - kLeastBranin));
  EXPECT_LT(median_of("tpe", mixed, of_mixed), 0.5 * median_of("random", mixed, of_mixed));
}

std::vector<Observation> observations(std::size_t n) {
  const auto random = random_search(space_of(kMixed), 7);
  std::vector<Observation> seen;
  for (std::size_t i = 0; i < n; ++i) {
    const Json setting = random->suggest(i, {});
    seen.push_back({.trial = i, .setting = setting, .loss = of_mixed(setting), .budget = 1 + i % 3});
  }
  return seen;
}

TEST(TpeSearch, DoesNotDependOnTheOrderOfObservations) {
  const auto search = tpe_search(space_of(kMixed), 7);
  std::vector<Observation> seen = observations(40);
  seen[3].loss = seen[30].loss = std::numeric_limits<double>::quiet_NaN();
  const Json setting = search->suggest(40, seen);
  std::ranges::reverse(seen);
  EXPECT_EQ(search->suggest(40, seen), setting);
  std::rotate(seen.begin(), seen.begin() + 13, seen.end());
  EXPECT_EQ(search->suggest(40, seen), setting);
  EXPECT_NE(search->suggest(41, seen), setting);
  EXPECT_NE(tpe_search(space_of(kMixed), 8)->suggest(40, seen), setting);
}

/// How many of 50 suggestions are near x = `center`.
int n_near(const std::vector<Observation>& seen, double center) {
  const auto search = tpe_search(space_of("x = { low = 0.0, high = 1.0 }"), 1);
  int n = 0;
  for (std::size_t trial = 100; trial < 150; ++trial) {
    n += std::abs(number(search->suggest(trial, seen), "x") - center) < 0.15 ? 1 : 0;
  }
  return n;
}

std::vector<Observation> two_clusters(double first_loss, std::size_t first_budget, double second_loss,
                                      std::size_t second_budget) {
  std::vector<Observation> seen;
  for (std::size_t i = 0; i < 40; ++i) {
    const bool is_first = i % 8 == 0;
    const double x = (is_first ? 0.2 : 0.8) + 0.002 * static_cast<double>(i % 20);
    seen.push_back({.trial = i,
                    .setting = {{"x", x}},
                    .loss = is_first ? first_loss : second_loss,
                    .budget = is_first ? first_budget : second_budget});
  }
  return seen;
}

TEST(TpeSearch, PrefersObservationsOfALargerBudget) {
  EXPECT_GT(n_near(two_clusters(1, 1, 2, 1), 0.2), 40) << "lower loss";
  EXPECT_GT(n_near(two_clusters(3, 9, 2, 1), 0.2), 40) << "higher loss, after more rounds";
  EXPECT_LT(n_near(two_clusters(1, 1, 2, 9), 0.2), 25) << "lower loss, after fewer rounds";
}

TEST(TpeSearch, KeepsAwayFromWhereTrialsFailed) {
  std::vector<Observation> seen = two_clusters(1, 9, 2, 1);
  const int before = n_near(seen, 0.2);
  for (Observation& observation : seen) {
    if (observation.loss == 1) observation.loss = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_GT(before, 40);
  EXPECT_LT(n_near(seen, 0.2), 10);
}

TEST(TpeSearch, IsRandomUntilTenTrialsWereMeasured) {
  const auto tpe = tpe_search(space_of(kMixed), 7);
  const auto random = random_search(space_of(kMixed), 7);
  std::vector<Observation> seen = observations(10);
  EXPECT_NE(tpe->suggest(10, seen), random->suggest(10, {}));
  seen[0].loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(tpe->suggest(10, seen), random->suggest(10, {}));
}

TEST(Searches, OfFixedValuesSuggestThese) {
  std::vector<Observation> seen;
  for (std::size_t i = 0; i < 12; ++i) seen.push_back({.trial = i, .setting = {{"a", 1}}, .loss = 1, .budget = 1});
  for (const std::string& name : search_names()) {
    EXPECT_EQ(search_called(name, space_of("a = 1"), 1)->suggest(0, seen).dump(), R"({"a":1})") << name;
  }
}

TEST(Searches, AreRefusedByNamesThatAreNone) {
  EXPECT_EQ(refusal_of("tpee", "a = 1"), "search is 'tpee', allowed are grid, random, sobol, tpe");
}

/// Suggestions are the same bits on every machine, and after each change of this code.
TEST(Searches, SuggestWhatTheyAlwaysDid) {
  const std::map<std::string, std::string> expected = {
      {"random", "e321b3cedafd100427f8e065a2c3d650e513cad74956487d9162d3bc53b288fc"},
      {"sobol", "384568a2fd2a5d408a3a459e1b89b234dfb6ea0fe63a876b951115ccb65e5dab"},
      {"tpe", "83eb79a22b44335b6c6f79ab9421d23c7e860aee0e218f63aaf5f96af296c778"},
  };
  for (const auto& [name, checksum] : expected) {
    const auto search = search_called(name, space_of(kMixed), 2019);
    std::vector<Observation> seen;
    std::string all;
    for (std::size_t trial = 0; trial < 60; ++trial) {
      Json setting = search->suggest(trial, seen);
      all += setting.dump();
      // A loss that needs no library of mathematics.
      const double loss = number(setting, "rate") - 0.1 * number(setting, "depth") * number(setting, "share");
      seen.push_back({.trial = trial, .setting = std::move(setting), .loss = loss, .budget = 1 + trial % 2});
    }
    EXPECT_EQ(sha256_of(all), checksum) << name;
  }
}

}  // namespace
}  // namespace podere::tune
