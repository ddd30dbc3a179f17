#include "podere/io/csv_categories.h"

#include <gtest/gtest.h>

#include <cmath>

#include "podere/base/error.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

using Texts = table::CategoryTexts;
using Names = std::vector<std::string>;

table::Table read_with(std::string_view text, const CsvOptions& options, ReadFacts* facts = nullptr) {
  return read_csv(TemporaryFile(text).path(), options, comm::Communicator::self(), 2, facts);
}

std::string refusal(std::string_view text, const CsvOptions& options) {
  const TemporaryFile file(text);
  try {
    read_csv(file.path(), options, comm::Communicator::self(), 2);
  } catch (const InputError& error) {
    return std::string(error.what()).substr(file.path().string().size() + 1);
  }
  return "accepted";
}

/// The values of a feature, -1 for missing.
std::vector<float> values_of(const table::Table& table, std::size_t feature) {
  std::vector<float> result;
  for (const float value : table.feature(feature)) result.push_back(value == value ? value : -1);
  return result;
}

table::Schema schema_of(const Texts& features, const std::map<std::size_t, table::Dictionary>& categories) {
  return {.features = features, .label = "label", .weight = {}, .categories = categories};
}

TEST(CsvCategories, TextsBecomeCodesInTheirOrder) {
  const auto table =
      read_with("y,color,x\n1,red,3\n0,blue,4\n1,red,5\n0,,6\n1,NA,7\n", {.label = "y", .categorical = {"color"}});
  EXPECT_EQ(values_of(table, 0), (std::vector<float>{1, 0, 1, -1, -1}));
  EXPECT_EQ(values_of(table, 1), (std::vector<float>{3, 4, 5, 6, 7}));
  const std::map<std::size_t, table::Dictionary> expected = {{0, Texts{"blue", "red"}}};
  EXPECT_EQ(table.schema().categories, expected);
}

TEST(CsvCategories, ATextMayHoldDelimitersQuotesLineEndsAndUtf8) {
  const auto table = read_with(
      "c,x\n\"a,b\",1\n\"say \"\"hi\"\"\",2\n\"two\nlines\",3\n Gr\xc3\xbc\xc3\x9f"
      "e ,4\n\xe6\x9d\xb1\xe4\xba\xac,5\n\"a,b\",6\n",
      {.categorical = {"c"}});
  EXPECT_EQ(values_of(table, 0), (std::vector<float>{1, 2, 3, 0, 4, 1}));
  EXPECT_EQ(table.schema().categories.at(0), (Texts{"Gr\xc3\xbc\xc3\x9f"
                                                    "e",
                                                    "a,b", "say \"hi\"", "two\nlines", "\xe6\x9d\xb1\xe4\xba\xac"}));
}

TEST(CsvCategories, NumbersAreTextsToo) {
  const auto table =
      read_with("c,x\n10,1\n9,2\n1e1,3\n-999,4\n-999.0,5\n", {.categorical = {"0"}, .missing = {"", "-999"}});
  EXPECT_EQ(table.schema().categories.at(0), (Texts{"10", "1e1", "9"}));
  EXPECT_EQ(values_of(table, 0), (std::vector<float>{0, 2, 1, -1, -1}));
}

TEST(CsvCategories, OnlyRowsThatAreAskedForGiveCategories) {
  const auto table = read_with("c,x\na,1\nb,2\nc,3\n", {.categorical = {"c"}, .rows = {1, 2}});
  EXPECT_EQ(table.schema().categories.at(0), Texts{"b"});
}

TEST(CsvCategories, AColumnThatIsAllMissingHasAnEmptyDictionary) {
  const auto table = read_with("c,x\n,1\nNA,2\n", {.categorical = {"c"}});
  EXPECT_EQ(table.schema().categories.at(0), Texts{});
  EXPECT_EQ(values_of(table, 0), (std::vector<float>{-1, -1}));
}

TEST(CsvCategories, TextsAreCodedAsAnotherSchemaSays) {
  const auto model = schema_of({"x", "c", "d"}, {{1, Texts{"a", "b"}}, {2, Texts{}}});
  ReadFacts facts;
  const auto table =
      read_with("d,c,x,note\nq,b,1,7\n,new,2,7\nr,a,3,7\n,,4,7\nr,new,5,7\n", {.coded_as = model}, &facts);
  EXPECT_EQ(values_of(table, 0), (std::vector<float>{-1, -1, -1, -1, -1}));
  EXPECT_EQ(values_of(table, 1), (std::vector<float>{1, -1, 0, -1, -1}));
  EXPECT_EQ(table.schema().categories.at(1), (Texts{"a", "b"}));
  EXPECT_EQ(facts.unknown, (UnknownTexts{{"c", 2}, {"d", 3}}));
}

TEST(CsvCategories, ColumnsThatTheOtherSchemaDoesNotNameMayHoldAnything) {
  const auto names = [](const std::string& text, const std::vector<std::string>& known, CsvOptions options = {}) {
    options.coded_as = schema_of(known, {});
    return read_with(text, options).schema().features;
  };
  const std::string text = "id,b,a,note\nx7,2,1,red\n";
  EXPECT_EQ(names(text, {"a", "b"}), Names({"b", "a"}));
  EXPECT_EQ(names(text, {"a", "c"}), Names({"a"}));  // other code reports that c is missing
  EXPECT_EQ(names("a,b,n\n2,1,3\n", {"a", "b"}, {.columns = {"n", "a"}}), Names({"n", "a"}));
  EXPECT_EQ(names("a,b,n\n2,1,3\n", {"c", "d"}), Names({"a", "b", "n"}));
  EXPECT_EQ(names("a,b,n\n2,1,3\n", {"f0", "f1"}), Names({"a", "b", "n"}));  // these are matched by order
  EXPECT_EQ(names("2,1,3\n", {"f0", "f1"}), Names({"f0", "f1", "f2"}));
  EXPECT_EQ(refusal(text, {.coded_as = schema_of({"a", "note"}, {})}).substr(0, 33),
            "2: column 'note' (position 3): 'r");
}

TEST(CsvCategories, CodesWithoutTextsAreReadAsNumbers) {
  const auto model = schema_of({"x", "c"}, {{1, std::nullopt}});
  EXPECT_EQ(values_of(read_with("x,c\n1,0\n2,16777215\n3,\n4,3.0\n", {.coded_as = model}), 1),
            (std::vector<float>{0, 16777215, -1, 3}));
  for (const std::string wrong : {"-1", "1.5", "16777216", "inf", "red", "1e30"}) {
    EXPECT_EQ(
        refusal("x,c\n1," + wrong + "\n", {.coded_as = model}),
        "2: column 'c' (position 1): '" + wrong + "' is not the code of a category: a whole number from 0 to 16777215");
  }
}

TEST(CsvCategories, WithTextsAmongTheRowsAHeaderHasNoNumber) {
  EXPECT_EQ(read_with("1,red\n0,blue\n", {.label = "0", .categorical = {"1"}}).n_rows(), 2);
  EXPECT_EQ(read_with("y,color\n1,red\n0,blue\n", {.label = "0", .categorical = {"1"}}).n_rows(), 2);
  // By position in the file if neither had names, else in order.
  EXPECT_EQ(values_of(read_with("7,red\n7,blue\n", {.coded_as = schema_of({"f1"}, {{0, Texts{"red"}}})}), 1),
            (std::vector<float>{0, -1}));
  EXPECT_EQ(values_of(read_with("red,1\nblue,2\n", {.coded_as = schema_of({"c", "x"}, {{0, Texts{"red"}}})}), 0),
            (std::vector<float>{0, -1}));
}

TEST(CsvCategories, AColumnThatIsNoFeatureIsRefused) {
  const std::string text = "y,w,a,b\n1,1,x,y\n";
  EXPECT_EQ(refusal(text, {.weight = "w", .categorical = {"w"}}),
            "1: the categorical column 'w' is neither a feature nor the label");
  EXPECT_EQ(refusal(text, {.columns = {"a"}, .categorical = {"b"}}),
            "1: the categorical column 'b' is neither a feature nor the label");
  EXPECT_EQ(refusal(text, {.categorical = {"c"}}).substr(0, 32), "1: there is no categorical colum");
}

TEST(CsvCategories, TextThatIsNotUtf8IsRefusedWhereItWouldBecomeACategory) {
  const std::string text = "c,x\na,1\n\xff,2\n";
  EXPECT_EQ(refusal(text, {.categorical = {"c"}}),
            "3: column 'c' (position 0): '\\xff' is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(values_of(read_with(text, {.coded_as = schema_of({"c", "x"}, {{0, Texts{"a"}}})}), 0),
            (std::vector<float>{0, -1}));
}

}  // namespace
}  // namespace podere::io
