#include "podere/source/readers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/byte_source.h"
#include "podere/table/owned_rows.h"

namespace podere::source {
namespace {

/// A folder for files whose format is looked for.
class FormatTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
    return (folder_.path() / name).string();
  }
  std::string format_of(const std::string& name, const std::string& content) const {
    return std::string(find_reader({write(name, content), {}}).name);
  }

  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(FormatTest, IsFoundByContentThenByName) {
  const std::string idx("\0\0\x08\x01", 4);
  EXPECT_EQ(format_of("a.csv", "1,2\n"), "csv");
  EXPECT_EQ(format_of("a", ""), "csv");
  EXPECT_EQ(format_of("a", "PAR1\x15\x04"), "parquet");
  EXPECT_EQ(format_of("a.csv", "PAR1,x\n1,2\n"), "csv");
  EXPECT_EQ(format_of("images", idx), "idx");
  EXPECT_EQ(format_of("images.svm", idx), "idx");
  for (const char* name : {"a.svm", "a.svmlight", "a.libsvm"}) EXPECT_EQ(format_of(name, "1 1:1\n"), "libsvm") << name;
  EXPECT_EQ(format_of("svm", "1 1:1\n"), "csv");
  EXPECT_EQ(format_of("a.svm.csv", "1 1:1\n"), "csv");
  EXPECT_THROW(find_reader({(folder_.path() / "absent.svm").string(), {}}), InputError);
}

TEST_F(FormatTest, IsThatOfTheTextInGzip) {
  // gzip of "1 1:1\n" and of the header of an IDX file, as gzip -n writes them
  const std::string path = write("a.b.svm", "1 1:1\n"), idx = write("images", std::string("\0\0\x08\x01", 4));
  ASSERT_EQ(std::system(("gzip -n " + path + " " + idx).c_str()), 0);
  EXPECT_EQ(find_reader({path + ".gz", {}}).name, "libsvm");
  EXPECT_EQ(find_reader({idx + ".gz", {}}).name, "idx");
}

TEST_F(FormatTest, IsTheOneThatIsChosen) {
  const std::string path = write("a.csv", "1,2\n");
  for (const std::string& name : format_names()) {
    if (name == kAnyFormat) continue;
    EXPECT_EQ(find_reader({.location = path, .format = name}).name, name);
  }
  EXPECT_THROW(find_reader({.location = path, .format = "excel"}), InputError);
}

TEST(Readers, HaveDifferentNamesAndOptionsThatThereAre) {
  std::set<std::string_view> names;
  std::set<std::string> fields;
  const SourceSpec spec;
  SourceSpec::visit_fields(spec, [&](const char* name, const auto&) { fields.insert(name); });
  for (const Reader& reader : readers()) {
    EXPECT_TRUE(names.insert(reader.name).second) << reader.name;
    for (const std::string_view option : reader.options) EXPECT_TRUE(fields.contains(std::string(option))) << option;
    EXPECT_TRUE(reader.load != nullptr && reader.open != nullptr) << reader.name;
  }
}

// A format whose rows are dots: "dots" and a feature of as many.
table::Table load_dots(const Reading& reading) {
  std::vector<char> text(100);
  const std::size_t n_bytes = io::open_bytes(reading.spec.location)->cursor_at(0)->read(text);
  table::Table table({.features = {"dots"}}, 1, {0, 1});
  table.feature(0)[0] = static_cast<float>(std::count(text.begin(), text.begin() + static_cast<long>(n_bytes), '.'));
  return table;
}

std::unique_ptr<table::RowSource> open_dots(const Reading& reading) {
  return std::make_unique<table::OwnedRows>(load_dots(reading));
}

TEST_F(FormatTest, OfAFileThatIsInTheTableNeedsNoMore) {
  std::vector<Reader> known(readers().begin(), readers().end());
  known.push_back({.name = "dots",
                   .first_bytes = {"DOTS"},
                   .suffixes = {".dots"},
                   .options = {"columns"},
                   .reason = "it is a file of dots",
                   .load = load_dots,
                   .open = open_dots});
  const SourceSpec spec = {write("a.txt", "DOTS...\n"), {}};
  const Reader& reader = find_reader(spec, known);
  EXPECT_EQ(reader.name, "dots");
  EXPECT_EQ(find_reader({write("a.dots", "...\n"), {}}, known).name, "dots");
  EXPECT_EQ(find_reader({.location = spec.location, .format = "dots"}, known).name, "dots");
  check_options(reader, spec);
  try {
    check_options(reader, {.location = spec.location, .n_features = 3});
    FAIL() << "it was not refused";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), spec.location + ": features cannot be chosen: it is a file of dots");
  }
  const auto comm = comm::Communicator::self();
  EXPECT_EQ(reader.load({spec, false, comm, 1, nullptr}).feature(0)[0], 3);
  const auto rows = reader.open({spec, true, comm, 1, nullptr});
  EXPECT_EQ(rows->schema().features.size(), 1);
  rows->for_each_window([](const table::Table& window) { EXPECT_EQ(window.feature(0)[0], 3); });
}

}  // namespace
}  // namespace podere::source
