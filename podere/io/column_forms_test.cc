#include "podere/io/column_forms.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

using Columns = std::vector<std::vector<float>>;

/// The features of `text`, with -1 for missing values.
Columns columns_of(std::string_view text, const CsvOptions& options = {}, ReadFacts* facts = nullptr) {
  const TemporaryFile file(text);
  const auto table = read_csv(file.path(), options, comm::Communicator::self(), 2, facts);
  Columns columns;
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    columns.emplace_back();
    for (const float value : table.feature(j)) columns.back().push_back(std::isnan(value) ? -1 : value);
  }
  return columns;
}

std::string form_refusal(std::string_view text, const CsvOptions& options = {}) {
  const TemporaryFile file(text);
  try {
    read_csv(file.path(), options, comm::Communicator::self(), 2);
  } catch (const InputError& error) {
    const std::string message = error.what();
    const std::size_t advice = message.find("; not numbers:");
    return message.substr(0, advice).substr(file.path().string().size() + 1);
  }
  return "not refused";
}

TEST(ColumnForms, AColumnOfOneFormIsReadByIt) {
  ReadFacts facts;
  EXPECT_EQ(columns_of("a;b;c;d;e\n"
                       "1,5;2026-01-01;true;10 %;1 234\n"
                       "2;;FALSE;2.5%;7\n"
                       "NA;2026-01-02;;NA;1 000 000\n",
                       {}, &facts),
            (Columns{{1.5F, 2, -1}, {20454, -1, 20455}, {1, 0, -1}, {10, 2.5F, -1}, {1234, 7, 1000000}}));
  ASSERT_EQ(facts.read_as.size(), 5);
  EXPECT_EQ(facts.read_as[1].column + ": " + facts.read_as[1].form + ", " + facts.read_as[1].meaning,
            "b: dates, days since 1970-01-01");
  columns_of("a,b\n1,2\n", {}, &facts);
  EXPECT_TRUE(facts.read_as.empty());
}

TEST(ColumnForms, AFieldFurtherDownDecides) {
  std::string text = "a;b\n";
  for (int i = 0; i < 100; ++i) text += "1,234;03/04/2026\n";
  EXPECT_EQ(form_refusal(text),
            " column 'a' may hold numbers with a decimal comma such as 1,5 or numbers with a comma every three digits "
            "such as 1,234.5, and none of its fields decides: choose --decimal , or --decimal ., or take "
            "texts as categories with --categorical");
  EXPECT_EQ(columns_of(text + "0,125;13/04/2026\n")[0][0], 1.234F) << "no group of three begins with 0";
  EXPECT_EQ(columns_of(text + "1,5;13/04/2026\n")[0][0], 1.234F);
  EXPECT_EQ(columns_of(text + "1,234.5;04/13/2026\n")[0][0], 1234);
  EXPECT_EQ(columns_of(text + "1,5;13/04/2026\n")[1][0], 20546) << "the third of April";
  EXPECT_EQ(columns_of(text + "1,5;04/13/2026\n")[1][0], 20516) << "the fourth of March";
}

TEST(ColumnForms, OptionsDecideWhatFieldsDoNot) {
  EXPECT_EQ(
      form_refusal("a,b\n1,03/04/2026\n"),
      " column 'b' may hold dates such as 31/01/2026 or dates such as 01/31/2026, and none of its fields decides: "
      "choose --day-first or --month-first, or take texts as categories with --categorical");
  EXPECT_EQ(columns_of("a,b\n1,03/04/2026\n", {.day_first = true})[1], (std::vector<float>{20546}));
  EXPECT_EQ(columns_of("a,b\n1,03/04/2026\n", {.day_first = false})[1], (std::vector<float>{20516}));
  EXPECT_EQ(columns_of("a;b\n1.234;1\n", {.decimal = ','})[0], (std::vector<float>{1234})) << "a point is for groups";
  EXPECT_EQ(columns_of("a;b\n1,234;1\n", {.decimal = ','})[0], (std::vector<float>{1.234F}));
  EXPECT_EQ(columns_of("a;b\n1,234;1\n", {.decimal = '.'})[0], (std::vector<float>{1234}));
  EXPECT_EQ(
      form_refusal("a;b\n1.5;1\n", {.decimal = ','}),
      "2: column 'a' (position 0): '1.5' is none of the numbers with a decimal comma of this column, such as 1,5");
}

TEST(ColumnForms, AFieldThatIsNotAsTheOthersIsRefusedByItself) {
  std::string text = "when,x\n";
  for (int i = 0; i < 50; ++i) text += "2026-01-01,1.5\n";
  EXPECT_EQ(form_refusal(text + "2026-02-30,1\n"),
            "52: column 'when' (position 0): '2026-02-30' is none of the dates of this column, such as 2026-01-31");
  EXPECT_EQ(form_refusal(text + "12,1\n"),
            "52: column 'when' (position 0): '12' is none of the dates of this column, such as 2026-01-31");
  EXPECT_EQ(
      form_refusal(text + "2026-01-01T10:00Z,1\n"),
      "52: column 'when' (position 0): '2026-01-01T10:00Z' is none of the dates of this column, such as 2026-01-31");
  EXPECT_EQ(form_refusal(text + "2026-01-01,yes\n"),
            "52: column 'x' (position 1): 'yes' is neither a number nor a text for a missing value");
  EXPECT_EQ(form_refusal(text + "2026-01-01,\"1,5\"\n"),
            "52: column 'x' (position 1): '1,5' is neither a number nor a text for a missing value");
}

TEST(ColumnForms, PartsOfDatesNeedDates) {
  EXPECT_EQ(form_refusal("a,b\n1,2\n", {.date_parts = true}),
            " no column holds dates, of which --date-parts makes features; podere describe shows what they hold");
  EXPECT_EQ(columns_of("when,b\n2026-01-31,2\n", {.date_parts = true}),
            (Columns{{20484}, {2}, {2026}, {1}, {31}, {5}}));
}

TEST(ColumnForms, DatesThatContradictEachOtherAreNotInDoubt) {
  EXPECT_EQ(form_refusal("a,b\n1/13/2020,1\n13/1/2020,2\n"),
            "2: column 'a' (position 0): '1/13/2020' is neither a number nor a text for a missing value");
}

TEST(ColumnForms, DatesAreThoseOfTheModelOrNone) {
  ReadFacts facts;
  const TemporaryFile file("when,x\n2026-01-01,1\n2026-01-02,2\n");
  const table::Schema known = read_csv(file.path(), {}, comm::Communicator::self(), 1).schema();
  EXPECT_EQ(known.dates, (std::set<std::size_t>{0}));
  EXPECT_EQ(columns_of("x,when\n1,03.01.2026\n", {.coded_as = known})[1], (std::vector<float>{20456}));
  EXPECT_EQ(columns_of("x,when\n1,NA\n", {.coded_as = known})[1], (std::vector<float>{-1}));
  EXPECT_EQ(form_refusal("x,when\n1,20456\n", {.coded_as = known}),
            "2: column 'when' (position 1): '20456' is none of the dates of this column, such as 2026-01-31");
  EXPECT_EQ(form_refusal("x,when\n2026-01-02,2026-01-02\n", {.coded_as = known}),
            "2: column 'x' (position 0): '2026-01-02' is neither a number nor a text for a missing value");
  EXPECT_EQ(columns_of("x,when\n\"1,5\",2026-01-01\n", {.coded_as = known})[0], (std::vector<float>{1.5F}))
      << "numbers may be written in another way";
}

TEST(ColumnForms, FewTextsBecomeCategoriesAndManyAreLeftOut) {
  std::string text = "id,town,x,note,when,flag\n";
  for (int i = 0; i < 60; ++i) {
    text += fmt::format("a{},{},{},note {},2026-01-{:02},{}\n", i, i % 2 == 0 ? "Rome" : "Milan", i, i, 1 + i % 28,
                        i % 3 == 0 ? "yes" : "no");
  }
  ReadFacts facts;
  const TemporaryFile file(text);
  const auto table = read_csv(file.path(), {.finds_categories = true}, comm::Communicator::self(), 2, &facts);
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"town", "x", "when", "flag"}));
  EXPECT_EQ(table.schema().categories.size(), 1);
  EXPECT_EQ(table.schema().categories.at(0), (table::CategoryTexts{"Milan", "Rome"}));
  EXPECT_EQ(table.schema().dates, (std::set<std::size_t>{2}));
  EXPECT_EQ(facts.categories, (std::vector<std::string>{"town"}));
  ASSERT_EQ(facts.left_out.size(), 2);
  EXPECT_EQ(facts.left_out[0].column + facts.left_out[1].column, "idnote");
  EXPECT_EQ(form_refusal("a,b\n1,2\nx,3\n2,4\n3,4\n4,5\n", {.finds_categories = true}), "not refused");
  const auto rows = open_csv(file.path(), {.finds_categories = true}, comm::Communicator::self(), 2, 1000);
  EXPECT_EQ(rows->schema(), table.schema());
}

TEST(ColumnForms, ALetterThatMayBeFalseIsATextBesideOthers) {
  std::string text = "sex,y\n";
  for (int i = 0; i < 40; ++i) text += i < 20 ? "F,1\n" : "M,0\n";
  EXPECT_EQ(form_refusal(text), "2: column 'sex' (position 0): 'F' is neither a number nor a text for a missing value");
  const TemporaryFile file(text);
  const auto table = read_csv(file.path(), {.finds_categories = true}, comm::Communicator::self(), 1);
  EXPECT_EQ(table.schema().categories.at(0), (table::CategoryTexts{"F", "M"}));
}

TEST(ColumnForms, ATextAmongManyNumbersMakesNoCategories) {
  std::string text = "x,y\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{}.5,1\n", i);
  EXPECT_EQ(form_refusal(text + "unknown,1\n", {.finds_categories = true}),
            "102: column 'x' (position 0): 'unknown' is neither a number nor a text for a missing value");
}

TEST(ColumnForms, RowsReadInWindowsAreTheSame) {
  std::string text = "when,x,y\n";
  for (int i = 0; i < 5000; ++i)
    text += fmt::format("{:02}.{:02}.2026 {:02}:30,\"{},{}\",{}\n", 1 + i % 28, 1 + i % 12, i % 24, i, i % 10, i % 2);
  const TemporaryFile file(text);
  const CsvOptions options{.label = "y"};
  const auto table = read_csv(file.path(), options, comm::Communicator::self(), 1);
  const auto rows = open_csv(file.path(), options, comm::Communicator::self(), 2, 10000);
  EXPECT_EQ(rows->schema(), table.schema());
  std::size_t row = 0;
  rows->for_each_window([&](const table::Table& window) {
    for (std::size_t i = 0; i < window.n_rows(); ++i, ++row) {
      for (std::size_t j = 0; j < 2; ++j) ASSERT_EQ(window.feature(j)[i], table.feature(j)[row]);
    }
  });
  EXPECT_EQ(row, 5000);
}

}  // namespace
}  // namespace podere::io
