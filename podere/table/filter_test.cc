#include "podere/table/filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/table/expression.h"

namespace podere::table {
namespace {

/// Columns x, y, "m bb", größe, city (Milan, Pisa, Rome), code, label target, weight w.
Schema schema() {
  return {.features = {"x", "y", "m bb", "größe", "city", "code"},
          .label = "target",
          .weight = "w",
          .categories = {{4, {{"Milan", "Pisa", "Rome"}}}, {5, std::nullopt}}};
}

Table table_of(const std::vector<std::vector<float>>& rows) {
  Table table(schema(), rows.size(), {0, rows.size()});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < table.n_columns(); ++j) table.column(j)[i] = rows[i].at(j);
  }
  return table;
}

bool holds(const std::string& expression, float x = 1, float y = 2) {
  return rows_where(table_of({{x, y, 125, 3, 2, 7, 1, 0.5F}}), expression, 1).at(0) == 1;
}

std::string message_of(const std::string& expression) {
  try {
    rows_where(table_of({}), expression, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Filter, OperatorsBindAsInMathematics) {
  for (const char* const expression : {"1 + 2 * 3 == 7",
                                       "(1 + 2) * 3 == 9",
                                       "2 ^ 3 ^ 2 == 512",
                                       "-2 ^ 2 == -4",
                                       "2 ^ -1 == 0.5",
                                       "10 - 3 - 2 == 5",
                                       "12 / 3 / 2 == 2",
                                       "2 * -3 == -6",
                                       "1 - -1 == 2",
                                       "2 - 3 + 4 == 3",
                                       "2 ** 3 * 2 == 16",
                                       "1 + 1 < 3 * 1",
                                       "0 && 0 || 1",
                                       "1 || 0 && 0",
                                       "! 1 > 2",
                                       "not 2 == 3",
                                       "not 0 and 1",
                                       "!0 && !0",
                                       "!(1 && 0)",
                                       "!missing(x)",
                                       "not x == 2 and y == 2",
                                       "0 or not 0",
                                       "+x == 1",
                                       "-x < 0",
                                       "-(x + y) == -3",
                                       "-x * 2 == -2",
                                       "1e3 == 1000 & 1.5e-1 == .15 & 2. == 2",
                                       "0 | x"}) {
    EXPECT_TRUE(holds(expression)) << expression;
  }
  for (const char* const expression :
       {"0", "-0.", "0 || 0", "1 && 0", "!1", "not 1 == 1", "1 > 1", "1 < 1", "1 != 1"}) {
    EXPECT_FALSE(holds(expression)) << expression;
  }
}

TEST(Filter, FunctionsAreWhatTheyAreCalled) {
  for (const char* const expression : {"abs(-3) == 3",
                                       "sqrt(16) == 4",
                                       "exp(0) == 1",
                                       "abs(log(exp(2)) - 2) < 1e-12",
                                       "log10(1000) == 3",
                                       "sin(0) == 0",
                                       "abs(sin(pi / 2) - 1) < 1e-12",
                                       "cos(0) == 1",
                                       "tan(0) == 0",
                                       "abs(asin(1) - pi / 2) < 1e-12",
                                       "acos(1) == 0",
                                       "abs(atan(1) - pi / 4) < 1e-12",
                                       "atan2(0, 1) == 0",
                                       "abs(atan2(1, 0) - pi / 2) < 1e-12",
                                       "sinh(0) == 0",
                                       "cosh(0) == 1",
                                       "tanh(0) == 0",
                                       "floor(-1.5) == -2",
                                       "ceil(-1.5) == -1",
                                       "round(2.5) == 3",
                                       "min(2, 3) == 2",
                                       "max(2, 3) == 3",
                                       "min(max(x, y), abs ( -9 )) == 2",
                                       "1 / 0 == inf",
                                       "missing(0 / 0)"}) {
    EXPECT_TRUE(holds(expression)) << expression;
  }
}

TEST(Filter, ColumnsAreNamedAsTheyAre) {
  for (const char* const expression :
       {"x == 1 && y == 2", "`m bb` == 125", "größe == 3", "`größe` == 3", "`x` == 1", "target == 1 and w == 0.5",
        "city == 2", "city == 'Rome'", "city != \"Pisa\" && x", "not city == 'Pisa'", "(city == 'Rome')",
        "code == 7"}) {
    EXPECT_TRUE(holds(expression)) << expression;
  }
  Table table({.features = {"pi", "abs", "and", "a`b", "c1"}, .categories = {{4, {{"it's", "say \"a\"\\"}}}}}, 1,
              {0, 1});
  for (std::size_t j = 0; j < 5; ++j) table.feature(j)[0] = static_cast<float>(j) - 3;
  EXPECT_EQ(rows_where(table, "pi == -3 and abs == -2 and abs(abs) == 2 and `and` == -1 and `a``b` == 0", 1).at(0), 1);
  EXPECT_EQ(rows_where(table, "c1 == 'say \"a\"\\\\' and c1 != 'it\\'s' and c1 != \"it's\"", 1).at(0), 1);
}

TEST(Filter, WhatIsMissingIsComparedWithNothing) {
  for (const char* const comparison : {"x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "x", "x && 1",
                                       "x || 0", "x + 1", "min(x, y) < inf", "max(y, x) > -inf"}) {
    EXPECT_FALSE(holds(comparison, kNaN)) << comparison;
  }
  EXPECT_FALSE(holds("x == x", kNaN));
  EXPECT_TRUE(holds("missing(x) && !missing(y)", kNaN));
  EXPECT_TRUE(holds("!(x > 3)", kNaN));
  EXPECT_TRUE(holds("x == inf && -x < y", kInfinity));
  EXPECT_TRUE(holds("x == 0", -0.0F));
}

TEST(Filter, EveryRowIsAskedOnAnyNumberOfThreads) {
  const std::size_t n = 100003;
  Table table({.features = {"x", "y"}}, n + 5, {5, n + 5});
  for (std::size_t i = 0; i < n; ++i) {
    table.feature(0)[i] = i % 7 == 0 ? kNaN : static_cast<float>(i % 100);
    table.feature(1)[i] = static_cast<float>(i % 31);
  }
  std::vector<std::uint8_t> expected;
  for (std::size_t i = 0; i < n; ++i) {
    expected.push_back(i % 7 != 0 && (static_cast<double>(i % 100) > 50 || static_cast<double>(i % 31) * 2 < 9));
  }
  for (const int n_threads : {1, 2, 3}) {
    EXPECT_EQ(rows_where(table, "!missing(x) && (x > 50 || y * 2 < 9)", n_threads), expected);
  }
  EXPECT_TRUE(rows_where(Table({.features = {"x"}}, 10, {3, 3}), "x > 1", 3).empty());
}

TEST(Filter, FaultsAreReportedWithTheirPlace) {
  const std::pair<const char*, const char*> faults[] = {
      {"", "expression, character 1: the expression ends where a value should be"},
      {"x >", "expression, character 4: the expression ends where a value should be"},
      {"größe > ", "expression, character 9: the expression ends where a value should be"},
      {"x > > y", "expression, character 5: a value is needed before '>'"},
      {"x y", "expression, character 3: an operator, such as + < == &&, is needed before 'y'"},
      {"1.2.3", "expression, character 4: an operator, such as + < == &&, is needed before '.3'"},
      {"(x > 1", "expression, character 1: this bracket is not closed"},
      {"x > 1)", "expression, character 6: this bracket was not opened"},
      {"()", "expression, character 2: a value is needed before ')'"},
      {"x = 3", "expression, character 3: '=' compares nothing: write '=='"},
      {"x += 3", "expression, character 4: a value is needed before '='"},
      {"1 < x < 3",
       "expression, character 7: two comparisons in a row: write a < b && b < c, or put brackets round one"},
      {"1 < x + 1 == 3",
       "expression, character 11: two comparisons in a row: write a < b && b < c, or put brackets round one"},
      {"x, y", "expression, character 2: a comma outside a function"},
      {"(x, y)", "expression, character 3: a comma outside a function"},
      {"min(x)", "expression, character 1: min takes 2 values, 1 given"},
      {"1 + abs(x, (y))", "expression, character 5: abs takes 1 value, 2 given"},
      {"abs()", "expression, character 5: a value is needed before ')'"},
      {"x ? 1 : 2", "expression, character 3: '?' is no operator"},
      {"x; y", "expression, character 2: ';' is no operator"},
      {"x # y", "expression, character 3: '#' is no operator"},
      {"--x", "expression, character 2: '-' stands right behind a sign or 'not': put brackets round what that is for"},
      {"x == !y", "expression, character 6: 'not' binds less than what stands before it: put brackets round it"},
      {"1e999 > x", "expression, character 1: '1e999' is beyond the numbers there are"},
      {"`x > 1", "expression, character 1: this backquote is not closed"},
      {"city == 'Rome", "expression, character 9: this quote is not closed"},
      {"city == 'Rom\\", "expression, character 9: this quote is not closed"},
      {"city == 'Rom'", "expression, character 9: column 'city' has no category 'Rom'; it has 'Milan', 'Pisa', 'Rome'"},
      {"city == 'Rome' + 1", "expression, character 16: a text can be compared, and nothing else"},
      {"x + city == 'Rome'",
       "expression, character 13: the text 'Rome' stands behind no column of categories with == or "
       "!=, such as city == 'Rome'"},
      {"x == 'Rome'",
       "expression, character 6: the text 'Rome' stands behind no column of categories with == or !=, "
       "such as city == 'Rome'"},
      {"'Rome' == city",
       "expression, character 1: the text 'Rome' stands behind no column of categories with == or !=, "
       "such as city == 'Rome'"},
      {"code == 'Rome'",
       "expression, character 9: the text 'Rome' stands behind no column of categories with == or !=, "
       "such as city == 'Rome'"},
      {"z > 1",
       "expression, character 1: there is no column 'z'; there are 'x', 'y', 'm bb', 'größe', 'city', 'code', "
       "'target', 'w'"},
      {"1 > citi", "expression, character 5: there is no column 'citi'; did you mean 'city'?"},
      {"`pi` > 1",
       "expression, character 1: there is no column 'pi'; there are 'x', 'y', 'm bb', 'größe', 'city', "
       "'code', 'target', 'w'"},
  };
  for (const auto& [expression, message] : faults) {
    EXPECT_EQ(message_of(expression), message) << expression;
  }
  EXPECT_EQ(message_of("sqr(x)"), std::string("expression, character 1: there is no function 'sqr', did you mean "
                                              "'sqrt'?; there are ") +
                                      kFunctions);
  EXPECT_EQ(message_of("x\n\x1b[2J"), "expression, character 3: '\\x1b' is no operator");
  EXPECT_EQ(message_of(std::string(4097, ' ')), "an expression of 4097 bytes, allowed are at most 4096");
}

TEST(Filter, ALongExpressionOfManyBracketsIsOneAsWell) {
  EXPECT_TRUE(holds(std::string(2000, '(') + "x" + std::string(2000, ')')));
  std::string sum = "x";
  while (sum.size() + 4 < kMaxExpressionBytes) sum += " + x";
  EXPECT_TRUE(holds(sum));
  std::string power = "x";
  while (power.size() + 4 < kMaxExpressionBytes) power += "^(x";
  power += std::string((power.size() - 1) / 3, ')');
  EXPECT_EQ(message_of(power), "an expression of " + std::to_string(power.size()) + " bytes, allowed are at most 4096");
  std::string functions = "x";
  while (functions.size() + 5 < kMaxExpressionBytes) functions = "abs(" + functions + ")";
  EXPECT_TRUE(holds(functions));
}

}  // namespace
}  // namespace podere::table
