// Labels that are texts.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

using Classes = std::vector<std::string>;

table::Table read_labels(const std::string& text, const CsvOptions& options, ReadFacts* facts = nullptr) {
  const TemporaryFile file(text);
  return read_csv(file.path(), options, comm::Communicator::self(), 2, facts);
}

std::string label_refusal(const std::string& text, const CsvOptions& options) {
  try {
    read_labels(text, options);
  } catch (const InputError& error) {
    const std::string message = error.what();
    return message.substr(message.find(": ") + 2);
  }
  return "none";
}

std::vector<float> labels_of(const table::Table& table) { return {table.label().begin(), table.label().end()}; }

TEST(CsvLabels, OfTextsAreTheirPlacesInOrder) {
  const table::Table table = read_labels("x,kind\n1,signal\n2,background\n3, signal\n4,\n", {.label = "kind"});
  EXPECT_EQ(table.schema().classes, (Classes{"background", "signal"}));
  EXPECT_EQ(table.label()[0], 1);
  EXPECT_EQ(table.label()[1], 0);
  EXPECT_EQ(table.label()[2], 1) << "blanks round a field do not count";
  EXPECT_TRUE(table.label()[3] != table.label()[3]) << "missing";
  EXPECT_TRUE(read_labels("x,kind\n1,0\n2,1\n", {.label = "kind"}).schema().classes.empty());
}

TEST(CsvLabels, HaveThePositiveClassLast) {
  const std::string text = "kind,x\nB,1\nM,2\nB,3\n";
  const table::Table table = read_labels(text, {.label = "kind", .positive = "B"});
  EXPECT_EQ(table.schema().classes, (Classes{"M", "B"}));
  EXPECT_EQ(labels_of(table), (std::vector<float>{1, 0, 1}));
  EXPECT_EQ(read_labels(text, {.label = "kind", .positive = "M"}).schema().classes, (Classes{"B", "M"}));
  EXPECT_EQ(label_refusal(text, {.label = "kind", .positive = "b"}),
            "the positive class 'b' is to be one of two classes, and the label 'kind' has 2: 'B', 'M'");
  EXPECT_EQ(label_refusal("kind,x\nB,1\nM,2\nC,3\n", {.label = "kind", .positive = "B"}),
            "the positive class 'B' is to be one of two classes, and the label 'kind' has 3: 'B', 'C', 'M'");
}

TEST(CsvLabels, ThatAreTextsAndNumbersAreRefusedUnlessChosen) {
  const std::string first = "kind,x\nno,1\n1,2\n0,3\n";
  EXPECT_EQ(label_refusal(first, {.label = "kind"}),
            "the label 'kind' has texts, such as 'no', and numbers, such as '0': name a text for missing values with "
            "--missing, or take all of them as classes with --categorical kind");
  EXPECT_EQ(read_labels(first, {.label = "kind", .categorical = {"kind"}}).schema().classes, (Classes{"0", "1", "no"}));
  std::string later = "kind,x\n";
  for (int i = 0; i < 100; ++i) later += i == 70 ? "no,0\n" : "1,0\n";
  EXPECT_NE(
      label_refusal(later, {.label = "kind"}).find("the first labels are numbers: name a text for missing values"),
      std::string::npos);
  EXPECT_EQ(read_labels(later, {.label = "kind", .categorical = {"kind"}}).schema().classes, (Classes{"1", "no"}));
}

TEST(CsvLabels, AreThoseOfTheModel) {
  const table::Schema model{.features = {"x"}, .label = "kind", .classes = {"M", "B"}};
  EXPECT_EQ(labels_of(read_labels("kind,x\nB,1\nM,2\n", {.needs_label = true, .coded_as = model})),
            (std::vector<float>{1, 0}));
  EXPECT_EQ(label_refusal("kind,x\nB,1\nm,2\n", {.needs_label = true, .coded_as = model}),
            "column 'kind' (position 0): 'm' is none of the model's classes: 'M', 'B'");
  const table::Schema of_numbers{.features = {"x"}, .label = "kind"};
  EXPECT_NE(
      label_refusal("kind,x\nB,1\n", {.needs_label = true, .coded_as = of_numbers}).find("the model learned numbers"),
      std::string::npos);
}

TEST(CsvLabels, StandLastWhereThatColumnAloneHasTexts) {
  const auto choice = [](const std::string& text) {
    ReadFacts facts;
    const table::Table table = read_labels(text, {.needs_label = true, .categorical = {}}, &facts);
    return std::pair(*table.schema().label, facts.label->choice);
  };
  EXPECT_EQ(choice("a,b,species\n1.5,2,setosa\n2.5,3,virginica\n"),
            std::pair(std::string("species"), LabelChoice::kLast));
  EXPECT_EQ(choice("1.5,2,setosa\n2.5,3,virginica\n3.5,3,setosa\n").second, LabelChoice::kLast);
  EXPECT_EQ(choice("kind,b\nM,2\nB,3\n"), std::pair(std::string("kind"), LabelChoice::kFirst));
}

TEST(CsvLabels, OfTooManyTextsAreNone) {
  std::string text = "id,x\n";
  for (int i = 0; i < 1001; ++i) text += fmt::format("k{},0\n", i);
  EXPECT_EQ(label_refusal(text, {.label = "id"}),
            "the label 'id' has 1001 different texts, allowed are at most 1000: choose another with --label");
}

TEST(CsvLabels, AreReadAgainWithoutHoldingRows) {
  const TemporaryFile file("x,kind\n1,b\n2,a\n3,b\n");
  const auto rows = open_csv(file.path(), {.label = "kind", .positive = "a"}, comm::Communicator::self(), 1);
  EXPECT_EQ(rows->schema().classes, (Classes{"b", "a"}));
  EXPECT_EQ(rows->labels().schema().classes, (Classes{"b", "a"}));
  EXPECT_EQ(labels_of(rows->labels()), (std::vector<float>{0, 1, 0}));
}

}  // namespace
}  // namespace podere::io
