#include "podere/io/csv.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/json.h"
#include "podere/io/csv_field.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

const std::filesystem::path kCsvData = PODERE_TEST_DATA "/csv";

table::Table read(const std::filesystem::path& path, const CsvOptions& options = {}, int n_threads = 2) {
  return read_csv(path, options, comm::Communicator::self(), n_threads);
}

table::Table read_text(std::string_view text, const CsvOptions& options = {}) {
  return read(TemporaryFile(text).path(), options);
}

using Values = std::vector<float>;
Values values(std::span<const float> column) { return {column.begin(), column.end()}; }

/// The features of `text` row by row, with -1 for a missing value.
std::vector<Values> rows_of_text(std::string_view text, const CsvOptions& options = {}) {
  const auto table = read_text(text, options);
  std::vector<Values> rows(table.n_rows());
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(std::isnan(table.feature(j)[i]) ? -1 : table.feature(j)[i]);
    }
  }
  return rows;
}

const std::vector<Values> kSix = {{1, 2, 3}, {4, 5, 6}};

TEST(Csv, ReadsRowsWithAndWithoutAHeader) {
  EXPECT_EQ(rows_of_text("a,b,c\n1,2,3\n4,5,6\n"), kSix);
  EXPECT_EQ(rows_of_text("1,2,3\n4,5,6\n"), kSix);
  EXPECT_EQ(read_text("x,y\n1,2\n").schema().features, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read_text("1,2\n").schema().features, (std::vector<std::string>{"f0", "f1"}));
}

TEST(Csv, AHeaderOfNumbersIsOneIfTheOptionSaysSo) {
  EXPECT_EQ(rows_of_text("7,8,9\n1,2,3\n4,5,6\n", {.header = true}), kSix);
  EXPECT_EQ(read_text("7,8\n1,2\n", {.header = true}).schema().features, (std::vector<std::string>{"7", "8"}));
}

TEST(Csv, NamesThatAreGivenReplaceThoseInTheFile) {
  const std::vector<std::string> given = {"p", "q"};
  EXPECT_EQ(read_text("1,2\n3,4\n", {.names = given}).schema().features, given);
  EXPECT_EQ(read_text("1,2\n3,4\n", {.names = given}).n_rows(), 2);
  EXPECT_EQ(read_text("x,y\n1,2\n3,4\n", {.names = given}).schema().features, given);
  EXPECT_EQ(read_text("x,y\n1,2\n3,4\n", {.names = given}).n_rows(), 2);
  EXPECT_EQ(read_text("7,8\n1,2\n3,4\n", {.header = true, .names = given}).n_rows(), 2);
  EXPECT_EQ(read_text("0,1\n5,6\n3,4\n", {.names = given}).n_rows(), 3);  // in doubt without names
  EXPECT_EQ(read_text("1,2\n3,4\n", {.names = given, .label = "p"}).schema().features, std::vector<std::string>{"q"});
  EXPECT_EQ(read_text(",x,y\n7,1,2\n9,3,4\n", {.names = given}).schema().features, given);
  EXPECT_EQ(read_text(",x\n7,1\n9,3\n", {.names = given}).schema().features, given);
}

TEST(Csv, LinesAboveTheTableAreSkipped) {
  const std::string table = "a,b,c\n1,2,3\n4,5,6\n";
  for (const std::string above : {"Title\n", "\n", "x,\"\n", "1,2,3,4\r\n", "sep=;\n"}) {
    EXPECT_EQ(rows_of_text(above + table, {.skip = 1}), kSix) << above;
    EXPECT_EQ(rows_of_text("\xef\xbb\xbf" + above + table, {.skip = 1}), kSix) << above;
    EXPECT_EQ(rows_of_text(gzip(above + "\n\n" + above + table), {.skip = 4, .chunk_bytes = 8}), kSix) << above;
  }
  EXPECT_EQ(rows_of_text("Title\ra,b\r1,2\r3,4\r", {.skip = 1}), (std::vector<Values>{{1, 2}, {3, 4}}));
  EXPECT_EQ(rows_of_text("Title\n1,2,3\n4,5,6", {.skip = 1}), kSix);
  EXPECT_EQ(rows_of_text("Title\n7,8,9\n1,2,3\n4,5,6", {.skip = 2}), kSix);
  std::string many;
  for (int i = 0; i < 40000; ++i) many += "line\n";  // more than are read at once
  EXPECT_EQ(rows_of_text(many + table, {.skip = 40000, .chunk_bytes = 1000}), kSix);
}

TEST(Csv, NamesMayBeQuotedOrAbsent) {
  EXPECT_EQ(read_text("\"a,\"\"1\"\"\", b ,\n1,2,3\n").schema().features,
            (std::vector<std::string>{"a,\"1\"", "b", "f2"}));
}

TEST(Csv, FindsEveryDelimiter) {
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    for (const char* const header : {"", "a,b,c\n"}) {
      std::string text = fmt::format("{}1,2,3\n4,5,6\n", header);
      std::replace(text.begin(), text.end(), ',', delimiter);
      EXPECT_EQ(rows_of_text(text), kSix) << text;
      EXPECT_EQ(rows_of_text(text, {.delimiter = delimiter}), kSix) << text;
    }
  }
}

TEST(Csv, ACommaInTextDoesNotHideTheDelimiter) {
  EXPECT_EQ(rows_of_text("\"m, GeV\";b;c\n1;2;3\n4;5;6\n"), kSix);
  EXPECT_EQ(rows_of_text("the first, b, c\n1, 2, 3\n4, 5, 6\n"), kSix);
}

TEST(Csv, AnyNumberOfSpacesIsOneDelimiter) {
  EXPECT_EQ(rows_of_text("  a b    c\n  1   2 3  \n4 5  6 \n"), kSix);
  EXPECT_EQ(rows_of_text(" 1.0  \"2\"   3\r\n  4   5 6  \r\n"), kSix);
}

TEST(Csv, BlanksRoundFieldsDoNotCount) {
  EXPECT_EQ(rows_of_text("1 ,\t2,  3\n 4, 5 \t,6 \n"), kSix);
  EXPECT_EQ(rows_of_text("1\t 2 \t3\n4\t5\t6\n"), kSix);
  EXPECT_EQ(rows_of_text("1, \"2\" ,3\n4,5,\" 6\" \n", {.missing = {" 6"}}),
            (std::vector<Values>{{1, 2, 3}, {4, 5, -1}}));
}

TEST(Csv, LinesEndWithLfOrCrlfAndTheLastMayNotEnd) {
  EXPECT_EQ(rows_of_text("1,2,3\r\n4,5,6\r\n"), kSix);
  EXPECT_EQ(rows_of_text("1,2,3\r\n4,5,6"), kSix);
  EXPECT_EQ(rows_of_text("1,2,3\n4,5,6\r"), kSix);
  EXPECT_EQ(rows_of_text("1,2,3\n4,5,6"), kSix);
  EXPECT_EQ(rows_of_text("1,2,3\n4,5,6\n\n\r\n\n"), kSix);
}

TEST(Csv, AByteOrderMarkIsNoPartOfTheFirstField) {
  EXPECT_EQ(rows_of_text("\xef\xbb\xbf"
                         "1,2,3\n4,5,6\n"),
            kSix);
  EXPECT_EQ(read_text("\xef\xbb\xbf"
                      "a,b\n1,2\n")
                .schema()
                .features[0],
            "a");
  EXPECT_EQ(rows_of_text("\xef\xbb\xbf\"1\",2,3\n4,5,6\n", {.chunk_bytes = 1}), kSix);
}

TEST(Csv, QuotedNumbersAreNumbers) { EXPECT_EQ(rows_of_text("\"1\",\"2\",\"3\"\n\"4\",\"+5e0\",\"6.0\"\n"), kSix); }

TEST(Csv, LineEndsAndDelimitersInQuotesAreText) {
  EXPECT_EQ(rows_of_text("a,\"b\n\"\"x\"\",\",c\n1,2,3\n4,5,6\n"), kSix);
  CsvOptions options{.columns = {"x"}};
  for (options.chunk_bytes = 1; options.chunk_bytes < 50; ++options.chunk_bytes) {
    EXPECT_EQ(rows_of_text("x,note\n1,\"one\n\"\"line\n\"\n2,\",,\n\n\n\"\n3,\"\"\n4,x\n", options),
              (std::vector<Values>{{1}, {2}, {3}, {4}}));
  }
}

TEST(Csv, ARepeatedNameGetsANumberAsInPandas) {
  const TemporaryFile file("a,b,a,a,a.1,b\n1,2,3,4,5,6\n");
  ReadFacts facts;
  const table::Table table = read_csv(file.path(), {.label = "a.1"}, comm::Communicator::self(), 1, &facts);
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"a", "b", "a.2", "a.3", "b.1"}));
  EXPECT_EQ(facts.renamed, (std::vector<std::string>{"a.2", "a.3", "b.1"}));
  EXPECT_EQ(table.label()[0], 5);
}

TEST(Csv, MissingTokensAreMissing) {
  EXPECT_EQ(rows_of_text("a,b,c\n1,,NA\nnan,\"\",?\n"), (std::vector<Values>{{1, -1, -1}, {-1, -1, -1}}));
  EXPECT_EQ(rows_of_text("1,x,3\n4,5,-\n", {.header = false, .missing = {"x", "-"}}),
            (std::vector<Values>{{1, -1, 3}, {4, 5, -1}}));
}

TEST(Csv, AMissingTokenThatIsANumberStandsForAllItsSpellings) {
  EXPECT_EQ(rows_of_text("-999,-999.0,\"-9.99e2\"\n1,2,-998\n", {.missing = {"-999"}}),
            (std::vector<Values>{{-1, -1, -1}, {1, 2, -998}}));
}

TEST(Csv, BlankLinesAreNoRows) {
  EXPECT_EQ(rows_of_text("a\n1\n\n3\n\n"), (std::vector<Values>{{1}, {3}}));
  EXPECT_EQ(rows_of_text("\n \t\r\n2\n", {.header = false}), (std::vector<Values>{{2}}));
  CsvOptions options;
  for (options.chunk_bytes = 1; options.chunk_bytes < 40; ++options.chunk_bytes) {
    EXPECT_EQ(rows_of_text("\n\r\n  a,b,c\n\n1,2,3\n   \t \n\n4,5,6\n\n", options), kSix);
  }
  EXPECT_EQ(rows_of_text("a\tb\tc\n  \n\t\t\n1\t2\t3\n"), (std::vector<Values>{{-1, -1, -1}, {1, 2, 3}}))
      << "tabs between fields are no blanks";
}

TEST(Csv, CommentsReachUpToTheEndOfTheLine) {
  CsvOptions options{.comment = '#'};
  for (options.chunk_bytes = 1; options.chunk_bytes < 60; ++options.chunk_bytes) {
    EXPECT_EQ(rows_of_text("# what's \"this\n#\na,b,c # names\n1,2,3#\n  # \"\n4,\"5\",6 # \"4\n#", options), kSix);
  }
  EXPECT_EQ(read_text("# x\n\"a#\",b\n1,2\n", {.comment = '#'}).schema().features,
            (std::vector<std::string>{"a#", "b"}));
  EXPECT_EQ(rows_of_text("% x\n1 2 3 %\n4 5 6\n", {.comment = '%'}), kSix);
  EXPECT_EQ(rows_of_text("| x\n1,2,3\n4,5,6 | y\n", {.comment = '|'}), kSix);
}

TEST(Csv, LinesMayEndWithCrAlone) {
  EXPECT_EQ(rows_of_text("a,b,c\r1,2,3\r4,5,6\r"), kSix);
  EXPECT_EQ(rows_of_text("a,b,c\r1,2,3\r\r4,5,6"), kSix);
}

TEST(Csv, ADelimiterAtTheEndOfLinesHasNothingBehindIt) {
  EXPECT_EQ(rows_of_text("a,b,c,\n1,2,3,\n4,5,6\n", {.header = true}), kSix);
  EXPECT_EQ(rows_of_text("a;b;c\n1;2;3;\n4;5;6; \r\n"), kSix);
  EXPECT_EQ(rows_of_text("1,2,\n3,4,\n"), (std::vector<Values>{{1, 2, -1}, {3, 4, -1}})) << "no line names columns";
  const table::Schema known{.features = {"a", "f1"}};
  EXPECT_EQ(rows_of_text("a,\n1,\n", {.coded_as = known}), (std::vector<Values>{{1, -1}})) << "the model has it";
}

TEST(Csv, AnIndexWithoutANameIsLeftOut) {
  const auto left_out = [](std::string_view text, const CsvOptions& options = {}) {
    ReadFacts facts;
    const TemporaryFile file(text);
    const auto table = read_csv(file.path(), options, comm::Communicator::self(), 1, &facts);
    EXPECT_EQ(table.schema().features.empty() ? "" : table.schema().features.back(), "b");
    return facts.left_out.empty() ? "" : facts.left_out[0].column + ' ' + facts.left_out[0].reason;
  };
  EXPECT_EQ(left_out(",a,b\n0,1,2\n1,3,4\n"), "f0 index") << "of pandas";
  EXPECT_EQ(left_out(",a,b\n17,1,2\n5,3,4\n"), "f0 index") << "shuffled";
  EXPECT_EQ(left_out("\tb\n0\t1\n1\t3\n"), "f0 index") << "a tab first";
  EXPECT_EQ(left_out("Unnamed: 0,a,b\n0,1,2\n1,3,4\n"), "Unnamed: 0 index") << "read and written again";
  EXPECT_EQ(left_out("\"\",\"a\",\"b\"\n\"Mazda RX4\",1,2\n\"Fiat\",3,4\n"), "f0 index") << "write.csv of R";
  EXPECT_EQ(left_out("\"a\" \"b\"\n\"Mazda RX4\" 1 2\n\"Fiat\" 3 4\n"), "f0 index") << "write.table of R";
  EXPECT_EQ(left_out(",a,b\n0.5,1,2\n1,3,4\n"), "") << "real numbers";
  EXPECT_EQ(left_out(",a,b\n1,1,2\n1,3,4\n"), "") << "the same twice";
  EXPECT_EQ(left_out(",a,b\n0,1,2\n1,3,4\n", {.columns = {"f0", "b"}}), "") << "an option asks for it";
  EXPECT_EQ(left_out(",a,b\n0,1,2\n1,3,4\n", {.label = "0"}), "") << "an option asks for it";
  EXPECT_EQ(left_out(",a,b\n0,1,2\n1,3,4\n", {.coded_as = table::Schema{.features = {"f0", "b"}}}), "")
      << "the model has it";
  const auto labeled = read_text(",a,b\n0,1,2\n1,3,4\n", {.needs_label = true});
  EXPECT_EQ(labeled.schema().label, "a") << "the first column that is left";
}

TEST(Csv, NumbersAreReadInAllTheirForms) {
  EXPECT_EQ(rows_of_text("+1,-1.,.5\n1e2,1E+2,1e-2\n007,1e-60,00000000000000000000000000001\n"),
            (std::vector<Values>{{1, -1, 0.5F}, {100, 100, 0.01F}, {7, 0, 1}}));
  const auto table = read_text("inf,-inf,+Infinity\n1e-45,-0,0\n");
  EXPECT_EQ(table.feature(0)[0], INFINITY);
  EXPECT_EQ(table.feature(1)[0], -INFINITY);
  EXPECT_EQ(table.feature(2)[0], INFINITY);
  EXPECT_EQ(table.feature(0)[1], std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::signbit(table.feature(1)[1]));
}

TEST(Csv, LabelAndWeightAreFoundByNameOrPosition) {
  for (const auto& [label, weight] : {std::pair("y", "w"), std::pair("3", "1")}) {
    const auto table = read_text("a,w,b,y\n1,2,3,4\n5,6,7,8\n", {.label = label, .weight = weight});
    EXPECT_EQ(table.schema(), (table::Schema{{"a", "b"}, "y", "w"}));
    EXPECT_EQ(values(table.feature(0)), (Values{1, 5}));
    EXPECT_EQ(values(table.feature(1)), (Values{3, 7}));
    EXPECT_EQ(values(table.label()), (Values{4, 8}));
    EXPECT_EQ(values(table.weight()), (Values{2, 6}));
  }
}

TEST(Csv, ALabelThatIsNeededIsThatOfTheModelWhereNoneIsChosen) {
  const table::Schema model{.features = {"a", "b"}, .label = "y"};
  const auto schema_of = [](std::string_view text, const CsvOptions& options) {
    return read_text(text, options).schema();
  };
  EXPECT_EQ(schema_of("a,y,b\n1,2,3\n", {.needs_label = true, .coded_as = model}), model);
  EXPECT_EQ(schema_of("b,a,x\n1,2,3\n", {.needs_label = true, .coded_as = model}).label, "b") << "there is none";
  EXPECT_EQ(schema_of("a,y,b\n1,2,3\n", {.label = "b", .needs_label = true, .coded_as = model}).label, "b");
  EXPECT_EQ(schema_of("a,y,b\n1,2,3\n", {.coded_as = model}).label, std::nullopt) << "it is not needed";
  const table::Schema nameless{.features = {"f0", "f2"}, .label = "f1"};
  EXPECT_EQ(schema_of("1,2,3\n", {.needs_label = true, .coded_as = nameless}), nameless);
}

TEST(Csv, ALabelThatIsNotChosenIsTheColumnWithAUsualNameOrElseTheFirst) {
  const auto label_of = [](std::string_view text, const CsvOptions& options) {
    ReadFacts facts;
    const TemporaryFile file(text);
    const auto table = read_csv(file.path(), options, comm::Communicator::self(), 1, &facts);
    return std::tuple(table.schema().label.value_or(""), facts.label->position, facts.label->choice,
                      facts.label->option, facts.label->other);
  };
  const CsvOptions needed{.needs_label = true};
  using Found = decltype(label_of("", {}));
  const Found y{"Y", 1, LabelChoice::kName, "Y", "b"};
  const Found a{"a", 0, LabelChoice::kFirst, "a", "b"};
  EXPECT_EQ(label_of("a,Y,b\n1,2,3\n", needed), y);
  EXPECT_EQ(label_of("a,Class,b\n1,2,3\n", needed), (Found{"Class", 1, LabelChoice::kName, "Class", "b"}));
  EXPECT_EQ(label_of("a,ys,b\n1,2,3\n", needed), (Found{"a", 0, LabelChoice::kFirst, "a", "b"}));
  EXPECT_EQ(label_of("1,2,3\n", needed), (Found{"f0", 0, LabelChoice::kFirst, "f0", "f2"}));
  EXPECT_EQ(label_of("label,target\n1,2\n", needed), (Found{"label", 0, LabelChoice::kFirst, "label", "target"}));
  EXPECT_EQ(label_of("a,y,b\n1,2,3\n", {.needs_label = true, .drop = {"y"}}), a) << "it is left out";
  EXPECT_EQ(label_of("a,y,b\n1,2,3\n", {.needs_label = true, .weight = "y"}), a) << "it is the weight";
  EXPECT_EQ(label_of("a,y,b\n1,2,3\n", {.needs_label = true, .columns = {"b", "y"}}),
            (Found{"a", 0, LabelChoice::kFirst, "a", "b"}))
      << "it is a feature";
  EXPECT_EQ(label_of("a,y,b\n1,2,3\n", {.label = "b"}), (Found{"b", 2, LabelChoice::kOption, "b", "y"}));
  EXPECT_EQ(label_of("y,\"my,b\"\n1,2\n", {.label = "1"}), (Found{"my,b", 1, LabelChoice::kOption, "1", "y"}));
  const table::Schema model{.features = {"a", "b"}, .label = "b"};
  EXPECT_EQ(label_of("a,y,b\n1,2,3\n", {.needs_label = true, .coded_as = model}),
            (Found{"b", 2, LabelChoice::kModel, "b", "a"}));
}

TEST(Csv, AColumnWithoutANameKeepsThePositionInItsName) {
  EXPECT_EQ(read_text("1,2,3\n", {.label = "0"}).schema(), (table::Schema{{"f1", "f2"}, "f0", {}}));
  EXPECT_EQ(read_text("1,2,3\n", {.columns = {"f2", "0"}}).schema().features, (std::vector<std::string>{"f2", "f0"}));
}

TEST(Csv, ANameThatLooksLikeAPositionIsAName) {
  EXPECT_EQ(read_text("1,0\n5,6\n", {.header = true, .columns = {"0"}}).feature(0)[0], 6);
}

TEST(Csv, ColumnsAreKeptInTheOrderAskedForAndOthersNeedNoNumbers) {
  const auto table = read_text("id,a,b,c\nx,1,2,3\ny,4,5,6\n", {.columns = {"c", "1"}});
  EXPECT_EQ(table.schema().features, (std::vector<std::string>{"c", "a"}));
  EXPECT_EQ(values(table.feature(0)), (Values{3, 6}));
  EXPECT_EQ(values(table.feature(1)), (Values{1, 4}));
}

TEST(Csv, NamesThatStandTwiceDoNoHarmWhereTheyAreNotKept) {
  EXPECT_EQ(rows_of_text("a,x,x\n1,2,3\n", {.columns = {"a"}}), (std::vector<Values>{{1}}));
}

TEST(Csv, RowsOfARangeAreTheTable) {
  const std::string text = "a\n0\n1\n2\n3\nfour\n";
  EXPECT_EQ(rows_of_text(text, {.rows = {.last_row = 2}}), (std::vector<Values>{{0}, {1}}));
  EXPECT_EQ(rows_of_text(text, {.rows = {1, 4}}), (std::vector<Values>{{1}, {2}, {3}}));
  EXPECT_EQ(rows_of_text("5\n6\n7\n", {.rows = {2}}), (std::vector<Values>{{7}}));
}

/// Numbers in all spellings, in quotes or not, beside text with everything that may be in quotes.
std::string random_text(std::uint64_t seed, char delimiter) {
  RandomSequence random(seed, 1, 1);
  const auto one_in = [&](std::uint64_t n) { return random.next() % n == 0; };
  const std::string end = one_in(2) ? "\n" : "\r\n";
  const std::size_t n_rows = 1 + random.next() % 60;
  std::string text = fmt::format("a{0}b{0}text{0}c{1}", delimiter, end);
  const auto number = [&] {
    if (one_in(8)) return std::string(one_in(2) ? "" : "\"\"");
    const double value = std::exp(80.0 * random.uniform() - 40.0) * (one_in(2) ? 1 : -1);
    const std::string digits = fmt::format("{:.{}e}", value, random.next() % 20);
    return one_in(5) ? '"' + digits + '"' : digits;
  };
  for (std::size_t row = 0; row < n_rows; ++row) {
    text += number() + delimiter + number() + delimiter;
    if (one_in(2)) {
      text += '"';
      while (!one_in(6))
        text += std::array{std::string("\"\""), end, std::string("x"), std::string(1, delimiter)}[random.next() % 4];
      text += '"';
    }
    text += delimiter + number() + (row + 1 < n_rows || one_in(2) ? end : "");
  }
  return text;
}

TEST(Csv, RandomTextIsReadAsThePlainReaderReadsIt) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const char delimiter = ",;\t"[seed % 3];
    const std::string text = random_text(seed, delimiter);
    const auto rows = reference_rows(text, delimiter);
    std::vector<std::uint32_t> expected;
    for (const std::size_t column : {0, 1, 3}) {
      for (std::size_t i = 1; i < rows.size(); ++i) {
        const float value = reference_value(rows[i][column]);
        expected.push_back(std::isnan(value) ? 0x7fc00000 : std::bit_cast<std::uint32_t>(value));
      }
    }
    const TemporaryFile plain(text), packed(gzip(text));
    CsvOptions options{.delimiter = delimiter, .columns = {"a", "b", "c"}};
    for (const std::size_t chunk_bytes : {1UL, 2UL, 3UL, 5UL, 17UL, 64UL, 1000UL, 1UL << 20}) {
      options.chunk_bytes = chunk_bytes;
      ASSERT_EQ(table_bits(read(plain.path(), options)), expected) << "seed " << seed << ", chunks of " << chunk_bytes;
      ASSERT_EQ(table_bits(read(packed.path(), options)), expected) << "seed " << seed << ", chunks of " << chunk_bytes;
    }
  }
}

TEST(Csv, AGzipFileMayHaveSeveralMembers) {
  const std::string text = "a,b,c\n1,2,3\n4,5,6\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const TemporaryFile file(gzip(text.substr(0, cut)) + gzip("") + gzip(text.substr(cut)));
    EXPECT_EQ(table_bits(read(file.path(), {.chunk_bytes = 4})), table_bits(read_text(text)));
  }
}

// More chunks than inflater states are kept: some are forgotten, and tasks span several chunks.
TEST(Csv, ALongGzipFileIsReadFromManyPlaces) {
  std::string text;
  for (std::size_t i = 0; i < 20000; ++i) text += fmt::format("{},{}\n", i, mix64(i) % 100000);
  const TemporaryFile plain(text), packed(gzip(text));
  const auto expected = table_bits(read(plain.path()));
  EXPECT_EQ(table_bits(read(packed.path(), {.chunk_bytes = 100}, 3)), expected);
  const CsvOptions part{.rows = {15000, 15010}, .chunk_bytes = 100};
  EXPECT_EQ(table_bits(read(packed.path(), part)), table_bits(read(plain.path(), part)));
}

TEST(Csv, WideRowsAreRead) {
  std::string line, text;
  for (std::size_t j = 0; j < 5000; ++j) line += fmt::format("{}{}", j ? "," : "", j);
  for (std::size_t i = 0; i < 40; ++i) text += line + '\n';
  const auto table = read_text(text, {.chunk_bytes = 1000});
  ASSERT_EQ(table.n_features(), 5000);
  for (std::size_t j = 0; j < 5000; ++j) {
    EXPECT_EQ(values(table.feature(j)), Values(40, static_cast<float>(j)));
  }
}

TEST(Csv, SpectrumFieldsAreReadAsItsJsonSays) {
  std::size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCsvData / "spectrum/csvs")) {
    const std::string stem = entry.path().stem().string();
    const auto json = Json::parse(file_text(kCsvData / "spectrum/json" / (stem + ".json")));
    if (!json.is_array()) continue;  // location_coordinates: the JSON is of another row
    const std::string text = file_text(entry.path()) + '\n';
    FieldReader reader(',');
    const char *p = text.data(), *const end = p + text.size();
    const auto read_row = [&] {
      const char* const row = std::exchange(p, find_row_end(p, end, LinePlace::kRow, {}));
      return reader.read_row({row, static_cast<std::size_t>(p - row)});
    };
    const auto names = read_row();
    for (const auto& row : json) {
      const auto fields = read_row();
      ASSERT_EQ(fields.size(), row.size()) << stem;
      for (std::size_t j = 0; j < fields.size(); ++j) EXPECT_EQ(fields[j], row.at(names[j])) << stem;
    }
    ++n_files;
  }
  EXPECT_EQ(n_files, 11);
}

TEST(Csv, SpectrumFilesOfNumbersAreReadAndOthersRefused) {
  std::size_t n_read = 0, n_refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCsvData / "spectrum/csvs")) {
    const auto rows = reference_rows(file_text(entry.path()), ',');
    bool is_numeric = true;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      for (const std::string& field : rows[i]) {
        is_numeric = is_numeric && field.find_first_not_of("0123456789") == std::string::npos;
      }
    }
    if (!is_numeric) {
      EXPECT_THROW(read(entry.path()), InputError) << entry.path();
      ++n_refused;
      continue;
    }
    const auto table = read(entry.path());
    ++n_read;
    EXPECT_EQ(table.schema().features, rows[0]);
    for (std::size_t j = 0; j < rows[0].size(); ++j) {
      for (std::size_t i = 1; i < rows.size(); ++i) {
        const float expected = reference_value(rows[i][j]), found = table.feature(j)[i - 1];
        EXPECT_TRUE(found == expected || (std::isnan(found) && std::isnan(expected))) << entry.path();
      }
    }
  }
  EXPECT_EQ(n_read, 4);
  EXPECT_EQ(n_refused, 8);
}

// The file as one column of text and one of numbers; those beyond float32 are refused one by one.
TEST(Csv, ParseNumberFileIsExactThroughTheWholeReader) {
  std::ifstream file(kCsvData / "parse-number/lemire-fast-float.txt");
  std::string half, single, whole, text, numbers;
  std::vector<std::uint32_t> expected;
  std::size_t n_beyond = 0;
  while (file >> half >> single >> whole >> text) {
    const auto bits = static_cast<std::uint32_t>(std::stoul(single, nullptr, 16));
    if ((bits & 0x7fffffff) == 0x7f800000) {
      EXPECT_THROW(read_text(text + '\n', {.header = false}), InputError) << text;
      ++n_beyond;
    } else {
      numbers += text + '\n';
      expected.push_back(bits);
    }
  }
  EXPECT_GT(n_beyond, 0);
  for (const std::size_t chunk_bytes : {std::size_t{100}, std::size_t{1} << 20}) {
    EXPECT_EQ(table_bits(read_text(numbers, {.header = false, .chunk_bytes = chunk_bytes})), expected);
  }
}

TEST(Csv, DamagedFilesAreReadOrRefused) {
  std::size_t n_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCsvData / "damaged")) {
    for (const std::size_t chunk_bytes : {std::size_t{1} << 20, std::size_t{7}}) {
      try {
        read(entry.path(), {.chunk_bytes = chunk_bytes});
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string_view(error.what()).starts_with(entry.path().string())) << error.what();
        EXPECT_EQ(std::string_view(error.what()).find_first_of("\n\r\x1b"), std::string_view::npos) << error.what();
      }
    }
    ++n_files;
  }
  EXPECT_GT(n_files, 100);
}

}  // namespace
}  // namespace podere::io
