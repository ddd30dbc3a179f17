#include "podere/io/csv_header.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "podere/base/error.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

enum class FirstLine { kNames, kRow, kRefused };

/// How the first line of `text` is read.
FirstLine first_line(std::string_view text, CsvOptions options = {}) {
  const TemporaryFile file(text);
  options.counts_texts = true;
  ReadFacts facts;
  try {
    read_csv(file.path(), options, comm::Communicator::self(), 1, &facts);
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(" with --header (names) or --no-header (a row)"), std::string::npos)
        << error.what();
    return FirstLine::kRefused;
  }
  return facts.found_header.value() ? FirstLine::kNames : FirstLine::kRow;
}

void expect_each(FirstLine expected, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    EXPECT_EQ(first_line(text), expected) << text;
    EXPECT_EQ(first_line("\xef\xbb\xbf" + text), expected) << "with a byte order mark: " << text;
    EXPECT_EQ(first_line(gzip(text)), expected) << "packed: " << text;
  }
}

TEST(CsvHeader, TextsOverNumbersAreNames) {
  expect_each(FirstLine::kNames, {"a,b,c\n1,2,3\n4,5,6\n", "\"a\",\"b\"\n\"1\",\"2\"\n", "a\n1\n2\n", "a,,c\n1,2,3\n",
                                  ",a,b\n0,1,2\n1,3,4\n", "RI,Na,Mg\n1.5,13,4\n", "a,NA,c\n1,2,3\n",
                                  "name,age\nAnn,30\nBob,NA\n", "when,x\n2020-01-01,1\n", "id,x1,x2\nn7,1,2\n",
                                  "a,b\n1e5,inf\n-1e-5,-inf\n", "id,2019,2020,2021\n7,10,20,30\n"});
}

TEST(CsvHeader, NumbersBesideNothingAreNamesOverNamesOfRows) {
  expect_each(FirstLine::kNames, {"\"\",\"1940\",\"1945\"\n\"Food\",22.2,44.5\n\"Rent\",10.5,15.5\n",
                                  "\"\",\"1\",\"2\"\n\"1\",50,19\n\"2\",16,40\n"});
  expect_each(FirstLine::kNames, {",2019,2020,2021\n0,10,20,30\n1,11,21,31\n"});
  expect_each(FirstLine::kRefused,
              {"\"\",\"1.5\",\"1.75\",\"2.5\"\n\"71\",0,0,1\n\"70\",0,4,0\n", ",3,5,9\n7,4,6,8\n8,3,4,5\n"});
  expect_each(FirstLine::kRow, {",3,5,4\n7,4,6,8\n8,3,4,5\n", ",3,5,9\n7,4,6,8\n7,3,4,5\n"});
  expect_each(FirstLine::kRow, {",1940,1945\nFood,22.2,44.5\nFood,10.5,15.5\n", ",1.5,2\nx,3,4\n"});
}

TEST(CsvHeader, TextsOverTextsAreNamesUnlessTheyLookAlike) {
  expect_each(FirstLine::kNames, {"name,city\nAnn,Rome\nBob,Bari\n", "name\nAnn\n", "q1,q2\nyes,no\n"});
  expect_each(FirstLine::kRow, {"2020-01-01\n2020-01-02\n", "Ann,Rome\nBob,Rome\n", "5%,$3\n6%,$12\n"});
}

TEST(CsvHeader, ATextThatIsBelowTooIsANameWhereOthersPlainlyAre) {
  expect_each(FirstLine::kNames, {"age,kids,hours,married\n39,2,29,married\n35,1,20,divorced\n",
                                  "\"\",\"y\",\"week\"\n\"1\",\"y\",0\n\"2\",\"n\",2\n", ",y,week\n0,y,0\n1,n,2\n"});
  expect_each(FirstLine::kRefused, {"age,kids,married\n39,2,married\n35,1,divorced\n", ",y,week\n5,y,0\n3,n,2\n",
                                    "none yet,none yet,none yet,Bob\n1,2,3,Ann\n1,5,6,Bob\n"});
}

TEST(CsvHeader, NumbersDatesIdentifiersAndMissingValuesAreARow) {
  expect_each(FirstLine::kRow, {"1,2,3\n4,5,6\n",
                                "N/A,1.5,2\n3,3,4\n",
                                "None,1.5,2\n3,3,4\n",
                                "-,1.5\n3,4\n",
                                "?,1\n2,3\n",
                                "n/a,7\n2,3\n",
                                "<NA>,7\n2,3\n",
                                ",1.5,2\n3,3,4\n",
                                ",\n1,2\n",
                                "NA\n1\n",
                                "2020-01-01,1.5,2\n2020-01-02,3,4\n",
                                "id7,1.5\nid8,2\n",
                                "Ann,3\nBob,4\n",
                                "12:30,1\n13:05,2\n",
                                "\"1,234\",5\n\"2,345\",6\n",
                                "0x1f,3\n0xff,4\n",
                                "1e5,inf\n2,3\n",
                                "5\n6\n",
                                "1,2\n",
                                "NA,1\n",
                                "1,red\n0,blue\n",
                                "-1,0,1\n2,3,4\n"});
}

TEST(CsvHeader, PandasNamesOfColumnsWithoutNamesAreNoticed) {
  expect_each(FirstLine::kNames, {"0,1,2\n0.5,1.25,-0.5\n1.5,2.5,3.5\n", "0,1\n0.5,1.25\n", "0,1,2\n7,1.5,3\n",
                                  ",0,1,2\n0,7,8,9\n1,4,5,6\n", ",0,1\n0,0.5,1.5\n", ",0\n0,1.5\n1,2.5\n",
                                  ",0,1\na,0.5,1.5\n", "label,0,1,2\ncat,0.5,0.25,1.5\n"});
  expect_each(FirstLine::kRefused, {"0,1,2\n3,4,5\n", "0,1\n3,4\n", "0\n5\n6\n", "0\n0.5\n1.5\n", ",0,1,2\n7,4,5,6\n",
                                    "label,1,2,3\ncat,4,5,6\n"});
  expect_each(FirstLine::kRow, {"0,1\n1,0\n", "0\n1\n", "0,1\n7,4\n0,1\n", "0,1\n0,5\n3,1\n", "0\n2\n0\n",
                                "0,1,2\n3,4,5\n0,1,2\n", "0,1,3\n0.5,1.5,2.5\n", "0,1.0,2\n0.5,0.25,1.5\n"});
}

TEST(CsvHeader, WhatIsInDoubtIsRefusedUntilItIsGiven) {
  const std::vector<std::string> texts = {
      "x,1.5,2\n3,3,4\n", "unknown,5\n3,4\n", "2020-01-01,x\n2020-01-02,5\n", "2020-01-01,N/A\nyesterday,3\n", "x,1\n",
      "x,N/A\n3,4\n"};
  expect_each(FirstLine::kRefused, texts);
  for (const std::string& text : texts) {
    const TemporaryFile file(text);
    CsvOptions options{.header = false, .counts_texts = true};
    ReadFacts facts;
    EXPECT_NO_THROW(read_csv(file.path(), options, comm::Communicator::self(), 1, &facts)) << text;
    EXPECT_FALSE(facts.found_header.has_value());
  }
}

TEST(CsvHeader, NamesThatAreAskedForSettleIt) {
  EXPECT_EQ(first_line("x,1.5,2\n3,3,4\n", {.label = "x"}), FirstLine::kNames);
  EXPECT_EQ(first_line("x,1.5,2\n3,3,4\n", {.drop = {"x"}}), FirstLine::kNames);
  const table::Schema pandas{.features = {"0", "1", "2"}, .label = {}, .weight = {}, .categories = {}};
  EXPECT_EQ(first_line("0,1,2\n3,4,5\n", {.coded_as = pandas}), FirstLine::kNames);
  const table::Schema nameless{.features = {"f1", "f2"}, .label = {}, .weight = {}, .categories = {}};
  EXPECT_EQ(first_line("0,1,2\n3,4,5\n", {.coded_as = nameless}), FirstLine::kRow);
  const table::Schema one{.features = {"1"}, .label = {}, .weight = {}, .categories = {}};
  EXPECT_EQ(first_line("7,1\n3,4\n", {.coded_as = one}), FirstLine::kRow);
}

TEST(CsvHeader, OneWideLineIsComparedWithTheNext) {
  std::string names, row;
  for (int i = 0; i < 40000; ++i) {
    names += (i == 0 ? "c" : ",c") + std::to_string(i);
    row += i == 0 ? "1" : ",1";
  }
  EXPECT_EQ(first_line(names + "\n" + row + "\n"), FirstLine::kNames);
}

TEST(CsvHeader, WordsForMissingValuesAreKnownInAnyCase) {
  for (const char* word :
       {"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-", "?", "<NA>", "#N/A", "NaT"}) {
    EXPECT_TRUE(is_missing_word(word)) << word;
  }
  for (const char* word : {"x", "0", "Ann", "none of these", "--a"}) EXPECT_FALSE(is_missing_word(word)) << word;
}

}  // namespace
}  // namespace podere::io
