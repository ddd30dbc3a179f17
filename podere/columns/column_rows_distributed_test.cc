// Files of columns are read alike by any number of ranks, some of which may have no rows, and refused alike.
#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/columns/column_rows.h"
#include "podere/columns/many_files.h"
#include "podere/columns/parquet_file.h"
#include "podere/comm/communicator.h"
#include "podere/io/csv.h"
#include "podere/io/csv_reference.h"

namespace podere::columns {
namespace {

const std::filesystem::path kFiles = std::filesystem::path(PODERE_TEST_DATA) / "columns";

Open opener(const std::string& name) {
  return [path = (kFiles / name).string()] { return open_parquet(path); };
}

/// All rows of this rank, column by column.
std::vector<std::uint32_t> bits_of(const table::Table& table) { return io::table_bits(table); }

TEST(ColumnRows, AreThoseOfCsvOnEveryRank) {
  const auto world = comm::Communicator::world();
  for (const std::optional<std::uint64_t> last_row :
       {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(2)}) {
    io::CsvOptions options{.label = "kind", .categorical = {"color"}};
    options.rows.last_row = last_row;  // two: most ranks have none
    const auto wanted = bits_of(io::read_csv(kFiles / "table.csv", options, world, 2));
    for (const char* const name : {"zstd.parquet", "encodings.parquet", "polars.parquet"}) {
      EXPECT_EQ(bits_of(read_columns(opener(name), options, world, 2)), wanted) << name;
      const auto rows = open_columns(opener(name), options, world, 2, 1);  // windows of a row
      std::vector<float> reals, of_table;
      rows->for_each_window([&](const table::Table& window) {
        reals.insert(reals.end(), window.feature(2).begin(), window.feature(2).end());
      });
      const auto table = read_columns(opener(name), options, world, 1);
      of_table.assign(table.feature(2).begin(), table.feature(2).end());
      EXPECT_EQ(reals, of_table) << name;
    }
  }
}

TEST(ColumnRows, AreRefusedWithTheSameLineOnEveryRank) {
  const auto world = comm::Communicator::world();
  const auto message = [&](const std::string& name, const io::CsvOptions& options) -> std::string {
    try {
      read_columns(opener(name), options, world, 2);
    } catch (const InputError& error) {
      return error.what();
    }
    return "not refused";
  };
  for (const auto& [name, options] : std::vector<std::pair<std::string, io::CsvOptions>>{
           {"kinds.parquet", {}},
           {"kinds.parquet", {.columns = {"beyond"}}},
           {"zstd.parquet", {.label = "nix"}},
           {"zstd.parquet", {.columns = {"kind", "color"}}},
           {"none.parquet", {.categorical = {"same"}, .coded_as = table::Schema{.features = {"same"}}}},
           {"no_rows.parquet", {}}}) {
    const std::string line = message(name, options);
    const std::string of_root = world.broadcast_text(line);
    EXPECT_EQ(line, of_root);
    EXPECT_TRUE(name == "none.parquet" || line != "not refused") << name;
  }
}

TEST(ColumnRows, OfAFileThatIsNotThereOnOneRankAreRefusedOnAll) {
  const auto world = comm::Communicator::world();
  const auto open = [&]() -> std::unique_ptr<ColumnFile> {
    return open_parquet(world.rank() == world.size() - 1 ? "/nowhere/x.parquet" : (kFiles / "zstd.parquet").string());
  };
  EXPECT_THROW(read_columns(open, {}, world, 1), InputError);
  const auto other = [&] { return open_parquet(kFiles / (world.is_root() ? "zstd.parquet" : "kinds.parquet")); };
  if (world.size() == 1) return;
  EXPECT_THROW(read_columns(other, {.columns = {"0"}}, world, 1), InputError);
}

}  // namespace
}  // namespace podere::columns
