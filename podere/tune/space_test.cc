#include "podere/tune/space.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"

namespace podere::tune {
namespace {

using Kind = Parameter::Kind;

const char* const kExample = R"(
depth = { low = 3, high = 10 }
learning-rate = { low = 0.01, high = 0.3, log = true }
hidden = ["32", "64,64"]
subsample = { low = 0.5, high = 1.0, step = 0.1 }
max_leaves = { low = 8, high = 256, log = true, when = { growth = "best-first" } }
growth = ["level", "best-first"]
bins = 256
)";

std::vector<std::string> names_in(const Space& space) {
  std::vector<std::string> names;
  for (const Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  return names;
}

/// The message with which a text is refused.
std::string refusal(const std::string& text) {
  try {
    Space::from_toml(text, "f.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Space, IsReadFromToml) {
  const Space space = Space::from_toml(kExample, "f.toml");
  EXPECT_EQ(names_in(space),
            (std::vector<std::string>{"depth", "learning_rate", "hidden", "subsample", "growth", "max_leaves", "bins"}))
      << "as in the file, but parents first";
  EXPECT_EQ(space.n_dimensions(), 6U) << "all but bins";
  const Parameter& depth = space.parameters()[0];
  EXPECT_EQ(depth.kind, Kind::kInteger);
  EXPECT_EQ(depth.low, 3);
  EXPECT_EQ(depth.high, 10);
  EXPECT_EQ(space.parameters()[1].kind, Kind::kReal);
  EXPECT_TRUE(space.parameters()[1].is_log);
  EXPECT_EQ(space.parameters()[3].step, 0.1);
  EXPECT_EQ(space.parameters()[5].parent, "growth");
  EXPECT_EQ(space.parameters()[5].parent_values, std::vector<Json>{"best-first"});
  EXPECT_EQ(space.parameters()[6].kind, Kind::kFixed);
}

TEST(Space, HasASettingForEachPointOfTheCube) {
  const Space space = Space::from_toml(kExample, "f.toml");
  constexpr double kLast = 1 - 0x1p-53;
  EXPECT_EQ(space.setting_at(std::vector<double>(6, 0.0)),
            Json::parse(R"({"depth": 3, "learning_rate": 0.01, "hidden": "32", "subsample": 0.5, "growth": "level",
                            "bins": 256})"));
  Json last = space.setting_at(std::vector<double>(6, kLast));
  EXPECT_NEAR(last["learning_rate"].get<double>(), 0.3, 1e-15);
  EXPECT_LE(last["learning_rate"].get<double>(), 0.3);
  last.erase("learning_rate");
  EXPECT_EQ(last, Json::parse(R"({"depth": 10, "hidden": "64,64", "subsample": 1.0, "growth": "best-first",
                                  "max_leaves": 256, "bins": 256})"));
  const Json middle = space.setting_at(std::vector<double>(6, 0.5));
  EXPECT_NEAR(middle["learning_rate"].get<double>(), std::sqrt(0.003), 1e-15);
  EXPECT_EQ(middle["max_leaves"], std::lround(std::sqrt(7.5 * 256.5)));
}

TEST(Space, AParameterWithoutItsParentIsNotThere) {
  const Space space = Space::from_toml(R"(
c = { choices = [1, 2], when = { b = [2, 3] } }
b = { low = 1, high = 3, when = { a = true } }
a = [true, false]
always = { value = "x", when = { a = [true, false] } }
)",
                                       "f.toml");
  EXPECT_EQ(names_in(space), (std::vector<std::string>{"a", "b", "c", "always"}));
  const auto setting = [&](double a, double b) { return space.setting_at(std::vector{a, b, 0.0}).dump(); };
  EXPECT_EQ(setting(0, 0.9), R"({"a":true,"b":3,"c":1,"always":"x"})");
  EXPECT_EQ(setting(0, 0), R"({"a":true,"b":1,"always":"x"})");
  EXPECT_EQ(setting(0.5, 0.9), R"({"a":false,"always":"x"})");
}

TEST(Space, ASingleValueIsFixed) {
  const Space space = Space::from_toml("a = [7]\nb = { low = 2, high = 2 }\nc = { low = 0.5, high = 0.5 }", "f.toml");
  EXPECT_EQ(space.n_dimensions(), 0U);
  EXPECT_EQ(space.setting_at({}).dump(), R"({"a":7,"b":2,"c":0.5})");
}

TEST(Space, HasTextsOfAnyLetters) {
  const Space space = Space::from_toml("a = ['gr\u00f6\u00dfe', \"\"\"\\\n\u00e9\"\"\"] # \u00fc", "f.toml");
  EXPECT_EQ(space.parameters()[0].choices, (std::vector<Json>{"gr\u00f6\u00dfe", "\u00e9"}));
}

TEST(Space, ItsIdentityChangesWithAnyPartOfIt) {
  const std::string text = "a = [1, 2]\nb = { low = 1, high = 9, when = { a = 1 } }";
  const Json identity = Space::from_toml(text, "f").to_json();
  EXPECT_EQ(Space::from_toml("b = { when = { a = [1] }, high = 9, low = 1 }\na = { choices = [1, 2] }", "g").to_json(),
            identity);
  for (const char* other : {"a = [2, 1]\nb = { low = 1, high = 9, when = { a = 1 } }",
                            "a = [1, 2]\nb = { low = 1, high = 8, when = { a = 1 } }",
                            "a = [1, 2]\nb = { low = 1, high = 9, when = { a = 2 } }",
                            "a = [1, 2]\nb = { low = 1, high = 9, log = true, when = { a = 1 } }",
                            "a = [1, 2]\nb = { low = 1, high = 9, step = 2, when = { a = 1 } }",
                            "a = [1, 2]\nb = { low = 1.0, high = 9, when = { a = 1 } }", "a = [1, 2]"}) {
    EXPECT_NE(Space::from_toml(other, "f").to_json(), identity) << other;
  }
}

struct Refused {
  const char* text;
  const char* message;
};

void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.text; }

class SpaceBadInput : public testing::TestWithParam<Refused> {};

TEST_P(SpaceBadInput, IsRefusedInOneLine) {
  const std::string message = refusal(GetParam().text);
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_EQ(message.rfind(GetParam().message, 0), 0U) << message;
}

INSTANTIATE_TEST_SUITE_P(
    OfAllKinds, SpaceBadInput,
    testing::Values(
        Refused{"a = [1", "f.toml:1: is not TOML: "},                                                             //
        Refused{"\na = 1\na = 2", "f.toml:3: is not TOML: "}, Refused{"\n\nno toml", "f.toml:3: is not TOML: "},  //
        Refused{"gr\u00f6\u00dfe = 1", "f.toml:1: is not TOML: "},
        Refused{"a = 1\nb = \u00e9", "f.toml:2: is not TOML: "},
        Refused{"a = 1964-05-27Tl07:32:03", "f.toml:1: is not TOML: "},
        Refused{"", "f.toml: the space has no parameters; "},
        Refused{"a-b = 1\n\na_b = 2", "f.toml:3: a_b is there twice"},
        Refused{"'my name' = 1", "f.toml:1: 'my name' is no name of a parameter; allowed are letters"},
        Refused{"\na = { low = 3, high = 1 }", "f.toml:2: a: low is 3 and high is 1, the wrong way round; exchange"},
        Refused{"a = { low = 0, high = 1, log = true }", "f.toml:1: a: log needs a low above 0, it is 0; "},
        Refused{"a = { low = 1, high = 9, log = 1 }", "f.toml:1: a: log is a number, allowed are true and false"},
        Refused{"a = { low = 1, high = 9, step = -1 }", "f.toml:1: a: step is -1, allowed is more than 0"},
        Refused{"a = { low = 1, high = 9, step = 0 }", "f.toml:1: a: step is 0; give more than 0"},
        Refused{"a = { low = 1, high = 9, step = 9 }",
                "f.toml:1: a: step is 9, allowed is more than 0, up to the range"},
        Refused{"a = { low = 1, high = 9, step = 0.5 }", "f.toml:1: a: step is 0.5, of low and high that are whole"},
        Refused{"a = { low = 1.0, high = 9, step = 1e-20 }", "f.toml:1: a: step is 1e-20, too small"},
        Refused{"a = { low = 1, high = 9, step = 2, log = true }", "f.toml:1: a: log and step exclude each other"},
        Refused{"a = { low = 1 }", "f.toml:1: a: low and high belong together"},
        Refused{"a = { low = '1', high = 2 }", "f.toml:1: a: low is a text, a number is allowed"},
        Refused{"a = { low = 1,\n hihg = 2 }", "f.toml:1: is not TOML"},
        Refused{"[a]\nlow = 1\nhihg = 2",
                "f.toml:3: a: 'hihg' is not known, perhaps 'high' is meant; allowed are low, "},
        Refused{"a = { value = 1, maximum = 2 }", "f.toml:1: a: 'maximum' is not known; allowed are low, high, log"},
        Refused{"a = {}", "f.toml:1: a: needs one of: low and high, choices, value; it has 0"},
        Refused{"a = { value = 1, choices = [1, 2] }",
                "f.toml:1: a: needs one of: low and high, choices, value; it has 2"},
        Refused{"a = { value = 1, step = 1 }", "f.toml:1: a: log and step belong to low and high"},
        Refused{"a = { choices = 1 }", "f.toml:1: a: choices is a number, a list is allowed"},
        Refused{"a = []", "f.toml:1: a: the list of choices is empty"},
        Refused{"a = [1, { low = 1 }]", "f.toml:1: a: a table is no value"},
        Refused{"[[a]]\nlow = 1", "f.toml:1: a: a table is no value"},
        Refused{"a = [1, [2]]", "f.toml:1: a: a list is no value"},
        Refused{"a = [1, 2, 1.0]", "f.toml:1: a: the choice 1.0 is there twice"},
        Refused{"a = 1979-05-27", "f.toml:1: a: a date or time is no value; allowed are numbers, texts"},
        Refused{"a = { value = 07:32:00 }", "f.toml:1: a: a date or time is no value"},
        Refused{"a = nan", "f.toml:1: a: nan is not finite"},  //
        Refused{"a = [1.0, -inf]", "f.toml:1: a: -inf is not finite"},
        Refused{"a = { low = 0.0, high = inf }", "f.toml:1: a: low, high, their difference and step must be finite"},
        Refused{"a = { low = -1e308, high = 1e308 }",
                "f.toml:1: a: low, high, their difference and step must be finite"},
        Refused{"a = 9007199254740992",
                "f.toml:1: a: 9007199254740992 is too large; whole numbers are allowed between"},
        Refused{"a = { low = -9007199254740993, high = 0 }", "f.toml:1: a: -9007199254740993 is too large"},
        Refused{"a = { low = -9007199254740991, high = 9007199254740991 }",
                "f.toml:1: a: 1.8014398509481982e+16 is no whole number between"},
        Refused{"a = { value = 1, when = 'b' }", "f.toml:1: a: 'when' names one parameter and its values, such as"},
        Refused{"a = { value = 1, when = { b = 1, c = 2 } }", "f.toml:1: a: 'when' names one parameter"},
        Refused{"a = { value = 1, when = {} }", "f.toml:1: a: 'when' names one parameter"},
        Refused{"b = 1\na = { value = 1, when = { b = [] } }", "f.toml:2: a: 'when' has no values"},
        Refused{"growth = 1\na = { value = 1, when = { grwth = 1 } }",
                "f.toml:2: a: 'when' names 'grwth', which is no parameter of the space; perhaps 'growth' is meant"},
        Refused{"a = { value = 1, when = { other = 1 } }",
                "f.toml:1: a: 'when' names 'other', which is no parameter of "
                "the space; there are 'a'"},
        Refused{"b = [1, 2]\na = { value = 1, when = { b = [2, 3] } }",
                "f.toml:2: a: 'when' asks for b = 3, which it cannot have; allowed are 1, 2"},
        Refused{
            "b = { low = 1, high = 9, step = 2 }\na = { value = 1, when = { b = 2 } }",
            "f.toml:2: a: 'when' asks for b = 2, which it cannot have; allowed are whole numbers from 1 to 9 in steps "
            "of 2"},
        Refused{"b = { low = 0.0, high = 1.0 }\na = { value = 1, when = { b = 1.0 } }",
                "f.toml:2: a: 'when' names b, a real number"},
        Refused{"a = { value = 1, when = { a = 1 } }", "f.toml:1: a: 'when' makes a circle: a of a"},
        Refused{"x = 1\na = { value = 1, when = { b = 1 } }\nb = { value = 1, when = { a = 1 } }",
                "f.toml:2: a: 'when' makes a circle: a of b of a"}));

TEST(SpaceBadInput, ThousandsOfThingsAreRefused) {
  std::string parameters;
  std::string choices = "a = [0";
  for (int i = 0; i <= 1000; ++i) {
    parameters += "p" + std::to_string(i) + " = 1\n";
    choices += ", " + std::to_string(i + 1);
  }
  EXPECT_EQ(refusal(parameters), "f.toml: the space has 1001 parameters, allowed are 1000");
  EXPECT_EQ(refusal(choices + "]"), "f.toml:1: a: the list has 1002 choices, allowed are 1000; give a range");
}

TEST(SpaceBadInput, IsRefusedFromProgramsToo) {
  const auto refuses = [](Parameter parameter) { EXPECT_THROW(Space({std::move(parameter)}), InputError); };
  EXPECT_THROW(Space({}), InputError);
  refuses({.name = ""});
  refuses({.name = "a", .kind = Kind::kFixed});
  refuses({.name = "a", .kind = Kind::kFixed, .choices = {1, 2}});
  refuses({.name = "a", .kind = Kind::kFixed, .choices = {Json::array({1})}});
  refuses({.name = "a", .kind = Kind::kFixed, .choices = {std::numeric_limits<double>::quiet_NaN()}});
  refuses({.name = "a", .kind = Kind::kInteger, .low = 0.5, .high = 3});
  refuses({.name = "a", .kind = Kind::kReal, .low = 0, .high = std::numeric_limits<double>::quiet_NaN()});
  refuses({.name = "a", .kind = Kind::kReal, .low = 0, .high = 1, .parent = "b"});
}

}  // namespace
}  // namespace podere::tune
