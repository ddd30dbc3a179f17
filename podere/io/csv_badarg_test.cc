#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/byte_source.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

/// How a refusal of texts among numbers ends, where `columns` says which hold how many, and `list` names them.
std::string advice(const std::string& columns, const std::string& list) {
  return fmt::format(
      "; not numbers: {}; leave out with --drop {}, take texts as categories with --categorical {} (or auto), or "
      "name "
      "a text for missing values with --missing",
      columns, list, list);
}

/// What the reader says to `path`, without the name of the file in front.
std::string refusal_of(const std::filesystem::path& path, const CsvOptions& options = {}) {
  try {
    read_csv(path, options, comm::Communicator::self(), 2);
  } catch (const InputError& error) {
    std::string message = error.what();
    if (message.starts_with(path.string() + ":")) message.erase(0, path.string().size() + 1);
    return message;
  }
  return "not refused";
}

/// The same for a file of `text`; chunks of any size must give the same answer.
std::string refusal_of_text(std::string_view text, CsvOptions options = {}) {
  const TemporaryFile file(text);
  std::string refusal = refusal_of(file.path(), options);
  for (options.chunk_bytes = 1; options.chunk_bytes <= 2 * text.size() && options.chunk_bytes < 70;
       ++options.chunk_bytes) {
    EXPECT_EQ(refusal_of(file.path(), options), refusal) << "chunks of " << options.chunk_bytes;
  }
  return refusal;
}

TEST(CsvBadInput, WhatIsNoFileIsRefused) {
  EXPECT_EQ(refusal_of("/nowhere/x.csv"), " cannot be read: No such file or directory");
  EXPECT_EQ(refusal_of(""), " cannot be read: No such file or directory");
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  EXPECT_EQ(refusal_of(folder.path()), " the folder has no files");
  EXPECT_EQ(refusal_of(folder.path() / "*.csv"), " no file fits this pattern");
  EXPECT_EQ(refusal_of("/dev/null"), " is a pipe or a device, which cannot be read twice: write it to a file first");
  const TemporaryFile pipe("");
  std::filesystem::remove(pipe.path());
  ASSERT_EQ(mkfifo(pipe.path().c_str(), 0600), 0);
  EXPECT_EQ(refusal_of(pipe.path()), " is a pipe or a device, which cannot be read twice: write it to a file first");
}

TEST(CsvBadInput, AFileThatMayNotBeReadIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFile file("1,2\n");
  std::filesystem::permissions(file.path(), std::filesystem::perms::none);
  EXPECT_EQ(refusal_of(file.path()), " cannot be read: Permission denied");
}

TEST(CsvBadInput, NamesThatAreNotUtf8AreRefusedBeforeAnyWork) {
  for (const char* name :
       {"\xe4", "a\xff", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82"}) {
    const std::string refusal = refusal_of_text(fmt::format("x,{}\n1,2\n", name));
    EXPECT_TRUE(refusal.starts_with("1: the name of column 1 (")) << refusal;
    EXPECT_TRUE(refusal.ends_with(") is not UTF-8; save the file as UTF-8")) << refusal;
  }
  for (const char* name : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\xb1", "m(\xce\xbc\xce\xbc)"}) {
    EXPECT_EQ(refusal_of_text(fmt::format("x,{}\n1,2\n", name)), "not refused");
  }
}

TEST(CsvBadInput, NamesThatAreGivenAreDifferentAndAsManyAsThereAreFields) {
  EXPECT_EQ(refusal_of_text("1,2\n", {.names = {"a"}}), "1: 1 names are given, and the line has 2 fields");
  EXPECT_EQ(refusal_of_text("1,2\n", {.names = {"a", "a"}}), "1: the name 'a' is given twice");
  EXPECT_EQ(refusal_of_text("1,2\n", {.names = {"a", ""}}), "1: a name that is given is empty");
}

TEST(CsvBadInput, AFileWithoutRowsIsRefused) {
  EXPECT_EQ(refusal_of_text(""), " is empty");
  EXPECT_EQ(refusal_of_text("\xef\xbb\xbf"), " is empty");
  EXPECT_EQ(refusal_of_text("\n\n"), " is empty");
  EXPECT_EQ(refusal_of_text("# a\n#", {.comment = '#'}), " is empty");
  EXPECT_EQ(refusal_of_text("\n\r\n", {.header = false}), " is empty");
  EXPECT_EQ(refusal_of_text("a,b,c\n"), " has a header but no rows; if its first line is a row, choose --no-header");
  EXPECT_EQ(refusal_of_text("a,b,c\r\n\r\n"),
            " has a header but no rows; if its first line is a row, choose --no-header");
  EXPECT_EQ(refusal_of_text("1,2\n", {.header = true}), " has a header but no rows");
}

TEST(CsvBadInput, ARowWithTooFewFieldsIsRefused) {
  EXPECT_EQ(refusal_of_text("a,b,c\n1,2,3\n4,5\n"),
            "3: the row ends after 2 of 3 fields: column 'c' (position 2) is missing");
  EXPECT_EQ(refusal_of_text("# 1\n\na,b,c\n1,2,3\n\n4,5 # 6\n", {.comment = '#'}),
            "6: the row ends after 2 of 3 fields: column 'c' (position 2) is missing");
  EXPECT_EQ(refusal_of_text("1 2 3\n4 5 \n", {.delimiter = ' '}),
            "2: the row ends after 2 of 3 fields: column 'f2' (position 2) is missing");
}

TEST(CsvBadInput, LinesAreCountedFromTheBeginWhereSomeAreSkipped) {
  EXPECT_EQ(refusal_of_text("Title\n\na,b\n1,2\n4\n", {.skip = 2}),
            "5: the row ends after 1 of 2 fields: column 'b' (position 1) is missing");
  EXPECT_EQ(refusal_of_text("Title\n\n7,5,x\n1,2,3\n", {.skip = 2}).substr(0, 46),
            "3: the line may name the columns or be a row: ");
  const std::string none = "which --skip leaves out: name how many lines are above the table";
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.skip = 2}), " has no line behind the first 2, " + none);
  EXPECT_EQ(refusal_of_text("a,b\n1,2", {.skip = 1'000'000'000}), " has no line behind the first 1000000000, " + none);
  EXPECT_EQ(refusal_of_text("a,b\n\n\n", {.skip = 1}), " is empty");
}

TEST(CsvBadInput, ARowWithTooManyFieldsIsRefused) {
  EXPECT_EQ(refusal_of_text("3,4,setosa,virginica\n5,3,1,2,0\n4,3,1,2,0\n4,3,1,2,1\n"),
            "1: the line counts rows and features, as in files of scikit-learn: leave out what is above the table "
            "with --skip 1");
  EXPECT_EQ(refusal_of_text("150,4,setosa,virginica\n5,3,1,2,1,3,0\n4,3,1,2,1,3,0\n4,3,1,2,1,2,1\n"),
            "1: the first line has 4 fields, and the lines below have 7: leave out what is above the table with "
            "--skip 1");
  EXPECT_EQ(refusal_of_text("Measured in May\na;b;c\n1;2;3\n4;5;6\n"),
            "1: the first line has 1 field, and the lines below have 3: leave out what is above the table with "
            "--skip 1");
  EXPECT_EQ(
      refusal_of_text("Series:,LNS1\n\nAge\nYear,Jan,Feb\n1,2,3\n4,5,6\n"),
      "1: the first 2 lines have other numbers of fields, and the lines below have 3: leave out what is above the "
      "table with --skip 3");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n3,4,five\n"), "3: 'five' is one field too many: a row has 2");
  EXPECT_EQ(refusal_of_text("a,b\n1,2,\n1,4,5\n"), "2: '' is one field too many: a row has 2");
  EXPECT_EQ(refusal_of_text("1,2\n1,2,\n"), "2: '' is one field too many: a row has 2");
  std::string text = "a,b\n";
  for (int i = 0; i < 20; ++i) text += "1,2,\n";
  EXPECT_EQ(refusal_of_text(text), "not refused");
  EXPECT_EQ(refusal_of_text(text + "1,2,3\n"), "22: '3' is one field too many: a row has 2");
  EXPECT_EQ(refusal_of_text(text + "1,2,,\n"), "22: '' is one field too many: a row has 2");
}

TEST(CsvBadInput, TextWhereANumberShouldBeIsRefused) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n3,four\n"),
            "3: column 'b' (position 1): 'four' is neither a number nor a text for a missing value" +
                advice("'b' (1 of 2 rows)", "b"));
  EXPECT_EQ(refusal_of_text("1,2\n3,\"x,\ny\"\n"),
            "2: column 'f1' (position 1): 'x,\\x0ay' is neither a number nor a text for a missing value" +
                advice("'f1' (1 of 2 rows)", "f1"));
  for (const char* const text : {"0x1p3", "1,5x", "1e", "--1", "+-1", "1 2", "1_000", "nan(1)", "NAN", "1d3"}) {
    const std::string refusal = refusal_of_text(fmt::format("a;b\n1;{}\n", text), {.delimiter = ';'});
    EXPECT_EQ(refusal,
              fmt::format("2: column 'b' (position 1): '{}' is neither a number nor a text for a missing value{}", text,
                          advice("'b' (1 of 1 rows)", "b")));
  }
}

TEST(CsvBadInput, TextInLabelOrWeightIsAnsweredWithWhatHelpsThere) {
  const CsvOptions options{.label = "y", .weight = "w", .columns = {"a"}};
  EXPECT_EQ(refusal_of_text("a,w,y\n1,2,yes\n", options), "not refused") << "a class";
  std::string late = "x,out\n";
  for (int i = 0; i < 100; ++i) late += i == 90 ? "much,1\n" : "2,0\n";
  EXPECT_TRUE(
      refusal_of_text(late, {.needs_label = true})
          .ends_with("not numbers: 'x' (1 of 100 rows); no label is chosen, so the first column is used: choose "
                     "one with --label"));
  EXPECT_TRUE(refusal_of_text("a,w,y\n1,much,0\n", options).ends_with("; weights must be numbers"));
  EXPECT_TRUE(refusal_of_text("a,w\n1,much\n", {.weight = "w"}).ends_with("; weights must be numbers"));
}

TEST(CsvBadInput, AColumnThatIsLikelyTheLabelIsNotToBeLeftOut) {
  const std::string text = "x,city,Class\n1,Rome,good\n2,Bari,bad\n";
  const std::string columns = "'city' (2 of 2 rows), 'Class' (2 of 2 rows)";
  EXPECT_TRUE(refusal_of_text(text).ends_with(advice(columns, "city") +
                                              "; Class is called as labels are: choose it with --label"));
  EXPECT_TRUE(refusal_of_text(text, {.label = "x"}).ends_with(advice(columns, "city,Class"))) << "another is chosen";
  EXPECT_EQ(refusal_of_text("x,species\n1.5,setosa\n", {.needs_label = true}), "not refused");
  EXPECT_TRUE(refusal_of_text("x,species,y\n1.5,setosa,2\n", {.label = "x", .needs_label = true})
                  .ends_with(advice("'species' (1 of 1 rows)", "species")));
}

TEST(CsvBadInput, ALineOfACommentAboveOtherColumnsIsNamedAsSuch) {
  EXPECT_EQ(refusal_of_text("# x y\n1 2\n3 4\n"),
            "1: the line begins with # and has 3 fields, the next has 2: leave comments out with --comment '#'");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.comment = '"'}),
            "comments cannot begin with '\"'; one of # % ! * / ; | & @ ~ $, which is not the delimiter, is allowed");
  EXPECT_EQ(refusal_of_text("a;b\n1;2\n", {.delimiter = ';', .comment = ';'}),
            "comments cannot begin with ';'; one of # % ! * / ; | & @ ~ $, which is not the delimiter, is allowed");
}

TEST(CsvBadInput, TextInAFeatureOfAModelIsNotToBeLeftOut) {
  table::Schema model;
  model.features = {"a", "b"};
  EXPECT_TRUE(
      refusal_of_text("id,b,a\nq,unknown,1\nr,2,3\n", {.coded_as = model})
          .ends_with("missing value; not numbers: 'b' (1 of 2 rows); these were numbers in training: name a text "
                     "for missing values with --missing"));
}

TEST(CsvBadInput, AllColumnsThatHoldTextsAreNamedAtOnce) {
  const std::string text = "id,y,x,city,\"a,b\"\nn1,0,1,Rome,p\nn2,1,2,,q\nn3,0,inf,Bari,3\n";
  EXPECT_EQ(refusal_of_text(text, {.label = "y"}),
            "2: column 'id' (position 0): 'n1' is neither a number nor a text for a missing value" +
                advice("'id' (3 of 3 rows), 'city' (2 of 3 rows), 'a,b' (2 of 3 rows)", "id,city,4"));
  EXPECT_EQ(refusal_of_text(text, {.label = "y", .drop = {"id", "city", "4"}}), "not refused");
  EXPECT_EQ(refusal_of_text(text, {.label = "y", .drop = {"id", "4"}, .categorical = {"city"}}), "not refused");
  EXPECT_TRUE(refusal_of_text(text, {.label = "city", .drop = {"4"}}).ends_with(advice("'id' (3 of 3 rows)", "id")));
}

TEST(CsvBadInput, ColumnsCanBeDroppedThatAreThereAndNotAskedFor) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.drop = {"c"}}),
            "1: there is no dropped column 'c'; there are 'a', 'b' (positions 0 to 1)");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.label = "a", .drop = {"a"}}),
            "1: column 'a' (position 0) is dropped, and the label");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.columns = {"a"}, .drop = {"b"}}),
            " columns to take and columns to drop are both given; give one of --columns and --drop");
}

TEST(CsvBadInput, AModelInPlaceOfDataIsReported) {
  const std::string model = R"({"format":"podere-gbt","version":1})" + std::string(1000, ' ');
  EXPECT_EQ(refusal_of_text(model, {.max_line_bytes = 100}),
            " is JSON (a model?), and not lines of delimited text: save a table as CSV, as pandas does: "
            "pandas.read_json(FILE, lines=...).to_csv(CSV, index=False)");
  EXPECT_NE(refusal_of_text("[{\"a\":1},{\"a\":2}]\n").find("is JSON"), std::string::npos);
}

TEST(CsvBadInput, ANumberBeyondFloat32IsRefused) {
  EXPECT_EQ(refusal_of_text("a\n3.4e38\n-3.5e38\n"),
            "3: column 'a' (position 0): '-3.5e38' is beyond float32, which ends at 3.4e38" +
                advice("'a' (1 of 2 rows)", "a"));
}

TEST(CsvBadInput, WhatIsShownIsClippedAndPrintable) {
  EXPECT_EQ(
      refusal_of_text("a\n\x1b[31mred\x7f\xff\xc3\xa4\xc2\x9b\n"),
      "2: column 'a' (position 0): '\\x1b[31mred\\x7f\\xff\xc3\xa4\\xc2\\x9b' is neither a number nor a text for a "
      "missing value" +
          advice("'a' (1 of 1 rows)", "a"));
  const std::string refusal = refusal_of_text("a\n" + std::string(1000, 'x') + '\n', {.chunk_bytes = 100});
  EXPECT_LT(refusal.size(), 330);
  EXPECT_NE(refusal.find("xxx...'"), std::string::npos);
}

TEST(CsvBadInput, TheFirstFaultInTheFileIsReported) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n3\n4,x\n5,\"\n").substr(0, 2), "3:");
  EXPECT_EQ(refusal_of_text("a,b\n1,why\n3,\"x\n4\n5,5\n").substr(0, 2), "2:");
}

TEST(CsvBadInput, LinesAreCountedAsAnEditorCountsThem) {
  EXPECT_EQ(refusal_of_text("a,b\r\n1,\"\r\n\r\n\"\r\n2,x\r\n", {.columns = {"a"}}), "not refused");
  EXPECT_EQ(refusal_of_text("a,b\r\n1,\"\r\n\r\n\"\r\nx,2\r\n", {.columns = {"a"}}).substr(0, 2), "5:");
}

TEST(CsvBadInput, AQuoteThatIsNotClosedIsRefused) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n3,\"4\n5,6\n"), "3: column 'b' (position 1): a quote that is not closed");
  EXPECT_EQ(refusal_of_text("a,\"b\n1,2\n"), "1: a quote that is not closed");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n\"\n\n"), "3: column 'a' (position 0): a quote that is not closed");
}

TEST(CsvBadInput, AQuoteAmidAFieldIsRefused) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n3,4\"\n5,6\n"),
            "3: column 'b' (position 1): a quote inside a field that does not begin with one");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n\"3\"4,5\n"), "3: column 'a' (position 0): text behind a closing quote");
  EXPECT_EQ(refusal_of_text("a,note\n1,x\n3,5\"\n5,6\"\n", {.columns = {"a"}}),
            "3: column 'note' (position 1): a quote inside a field that does not begin with one");
}

TEST(CsvBadInput, NulBytesAndOtherEncodingsAreRefused) {
  using namespace std::string_literals;
  EXPECT_EQ(refusal_of_text("a,b\n1,\0002\n"s), "2: column 'b' (position 1): a NUL byte; text is needed");
  EXPECT_EQ(refusal_of_text("a,\0\n1,2\n"s), "1: a NUL byte; text is needed");
  EXPECT_EQ(refusal_of_text("a,b\n1,x\0\n"s, {.columns = {"a"}}),
            "2: column 'b' (position 1): a NUL byte; text is needed");
  EXPECT_EQ(refusal_of_text("\xff\xfe"
                            "1\0,\0"s),
            " is UTF-16 text; save it as UTF-8");
}

TEST(CsvBadInput, CarriageReturnsThatEndNoLineAreRefused) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\r3,4\r5,6\n"), "2: a carriage return inside a line; lines end with LF or CRLF");
}

TEST(CsvBadInput, ColumnsThatAreNotThereAreRefused) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.label = "y"}),
            "1: there is no label column 'y'; there are 'a', 'b' (positions 0 to 1)");
  EXPECT_EQ(refusal_of_text("1,2\n", {.weight = "2"}),
            "1: there is no weight column '2'; there are 'f0', 'f1' (positions 0 to 1)");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.columns = {"-1"}}),
            "1: there is no feature column '-1'; there are 'a', 'b' (positions 0 to 1)");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.columns = {"99999999999999999999"}}).substr(0, 26),
            "1: there is no feature col");
}

TEST(CsvBadInput, TwoColumnsThatMayBeTheLabelAreRefused) {
  EXPECT_EQ(refusal_of_text("a,y,TARGET\n1,2,3\n", {.needs_label = true}),
            "1: the label may be 'y' or 'TARGET': choose one with --label");
}

TEST(CsvBadInput, AColumnCanHaveOneUseOnly) {
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.label = "a", .weight = "0"}),
            "1: column 'a' (position 0) is asked for twice; a column is feature, label or weight, once");
  EXPECT_EQ(refusal_of_text("a,b\n1,2\n", {.label = "a", .columns = {"b", "a"}}),
            "1: column 'a' (position 0) is asked for twice; a column is feature, label or weight, once");
}

TEST(CsvBadInput, ANameThatTwoColumnsHaveChoosesNone) {
  EXPECT_EQ(refusal_of_text("a,x,x\n1,2,3\n", {.label = "x", .columns = {"a"}}),
            "1: the label column 'x' is ambiguous: positions 1 and 2 have that name; give a position");
  const table::Schema model{.features = {"a"}, .label = "x"};
  EXPECT_EQ(refusal_of_text("a,x,x\n1,2,3\n", {.needs_label = true, .columns = {"a"}, .coded_as = model}),
            "1: the label column 'x' is ambiguous: positions 1 and 2 have that name; give a position");
}

TEST(CsvBadInput, RowsThatAreNotThereAreRefused) {
  const std::string text = "a\n1\n2\n3\n";
  EXPECT_EQ(refusal_of_text(text, {.rows = {.last_row = 3}}), "not refused");
  EXPECT_EQ(refusal_of_text(text, {.rows = {.last_row = 4}}),
            " rows 0 to 4 are asked for, end excluded; there are rows 0 to 3");
  EXPECT_EQ(refusal_of_text(text, {.rows = {3}}), " rows 3 to 3 are asked for, end excluded; there are rows 0 to 3");
  EXPECT_EQ(refusal_of_text(text, {.rows = {2, 1}}), " rows 2 to 1 are asked for, end excluded; there are rows 0 to 3");
}

TEST(CsvBadInput, ADelimiterThatIsNoneIsRefused) {
  EXPECT_EQ(refusal_of_text("1x2\n", {.delimiter = 'x'}),
            "the delimiter 'x' is not allowed; comma, semicolon, tab, space and | are");
}

TEST(CsvBadInput, AChunkOfNoBytesIsRefused) {
  const TemporaryFile file("1,2\n");
  EXPECT_EQ(refusal_of(file.path(), {.chunk_bytes = 0}), "chunk_bytes is 0; at least 1 is needed");
}

TEST(CsvBadInput, ALineLongerThanTheLimitIsRefusedWithoutHoldingIt) {
  const CsvOptions options{.chunk_bytes = 1 << 12, .max_line_bytes = 1 << 16};
  const TemporaryFile first(std::string(1 << 20, '1'));
  EXPECT_EQ(refusal_of(first.path(), options),
            "1: the line is longer than 65536 bytes; is this text, with a line for each row?");
  const TemporaryFile third("a\n1\n" + std::string(1 << 20, '2') + "\n3\n");
  EXPECT_EQ(refusal_of(third.path(), options), "3: the line is longer than 65536 bytes; is a quote not closed?");
  const TemporaryFile open("a,b\n1,2\n3,\"" + std::string(1 << 20, '\n') + "\n3\n");
  EXPECT_EQ(refusal_of(open.path(), options), "3: the line is longer than 65536 bytes; is a quote not closed?");
}

TEST(CsvBadInput, GzipThatIsCutShortIsRefused) {
  const std::string packed = gzip("a,b\n1,2\n3,4\n");
  for (std::size_t size = 2; size < packed.size(); ++size) {
    const TemporaryFile file(packed.substr(0, size));
    EXPECT_EQ(refusal_of(file.path()), " the gzip data are cut short") << size;
  }
}

TEST(CsvBadInput, GzipThatIsDamagedIsRefused) {
  const std::string packed = gzip("a,b\n1,2\n3,4\n");
  std::string wrong_sum = packed;
  wrong_sum[packed.size() - 6] ^= 1;
  EXPECT_EQ(refusal_of(TemporaryFile(wrong_sum).path()), " the gzip data are damaged: incorrect data check");
  EXPECT_EQ(refusal_of(TemporaryFile(packed + "rest").path()), " the gzip data are damaged: incorrect header check");
  for (std::size_t i = 3; i < packed.size(); ++i) {  // whatever is flipped: no crash, and nothing but InputError
    std::string damaged = packed;
    damaged[i] ^= 0x55;
    refusal_of(TemporaryFile(damaged).path());
  }
}

TEST(CsvBadInput, AFileThatBecomesShorterIsRefused) {
  const TemporaryFile file(std::string(1000, '1'));
  const auto source = open_bytes(file.path());
  std::filesystem::resize_file(file.path(), 500);
  std::string bytes(1000, '\0');
  EXPECT_THROW(source->cursor_at(0)->read(bytes), InputError);
  EXPECT_EQ(source->cursor_at(0)->read(std::span(bytes).first(500)), 500);
}

// Whatever the moment of the change, the answer is a table or an InputError.
TEST(CsvBadInput, AFileThatIsRewrittenWhileItIsReadDoesNoHarm) {
  std::string rows;
  for (int i = 0; i < 20000; ++i) rows += fmt::format("{},{}\n", i, i);
  const std::string others(rows.size(), '\n'), quotes(rows.size(), '"');
  const TemporaryFile file(rows);
  std::jthread writer([&](const std::stop_token& stop) {
    for (std::size_t i = 0; !stop.stop_requested(); ++i) {
      const std::string* const texts[] = {&rows, &others, &quotes};
      std::ofstream(file.path(), std::ios::binary | std::ios::in) << *texts[i % 3];
      if (i % 5 == 0) std::filesystem::resize_file(file.path(), rows.size() / 2);
    }
  });
  for (int i = 0; i < 200; ++i) refusal_of(file.path(), {.chunk_bytes = 1000});
}

TEST(ReadCsv, FilesOfOtherKindsAreNamed) {
  const std::string parquet("PAR1\x15\x04\x15\x10", 8);
  EXPECT_NE(refusal_of_text(parquet).find(" is a Parquet file, allowed is text"), std::string::npos);
  const std::vector<std::pair<std::string, std::string>> tables = {
      {{"\x72\x02\x01\0 \0", 6}, "a Stata file, allowed is text, plain or packed: save it as CSV, as pandas does: "},
      {{"\x80\x05\x95\0\1", 5}, "pickled by Python, allowed is text"},
      {gzip({"X\n\0\0\0\3", 6}), "a file of R, allowed is text, plain or packed: save it as CSV, as R does: "},
      {"$FL2@(#)", "an SPSS file, allowed is text"}};
  for (const auto& [text, words] : tables) {
    EXPECT_NE(refusal_of_text(text).find(" is " + words), std::string::npos) << words << ": " << refusal_of_text(text);
  }
  for (const char* text : {"PK\x03\x04\x14", "BZh91AY&SY", "\x28\xb5\x2f\xfd"}) {
    EXPECT_NE(refusal_of_text(text).find("the packed data are damaged or cut short"), std::string::npos);
  }
  EXPECT_NE(refusal_of_text(std::string(257, 'x') + "ustar").find("is a tar archive"), std::string::npos);
  for (const char* text : {"PAR1,x\n1,2\n", "PK,x\n1,2\n", "BZh9\n1\n", "LZIP,x\n1,2\n", "X\n1\n", "r,s\n1,2\n"}) {
    EXPECT_EQ(refusal_of_text(text), "not refused") << text;
  }
}

}  // namespace
}  // namespace podere::io
