#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/io/distributed_reference.h"
#include "podere/io/libsvm.h"

namespace podere::io {
namespace {

/// Rows of up to 20 pairs; the largest index, 97, is in the last row alone.
std::string libsvm_rows(std::size_t n_rows) {
  std::string text = "# rows \"at random\n\n";
  for (std::size_t i = 0; i < n_rows; ++i) {
    RandomSequence random(3, 0, i);
    text += i % 2 == 0 ? "+1" : "-1";
    for (std::uint64_t index = 1 + random.next() % 9; index < 90; index += 1 + random.next() % 9) {
      text += fmt::format(" {}:{:.9g}", index, 4 * random.uniform() - 2);
    }
    text += random.next() % 5 == 0 ? " # \"a comment\" 99:1\n" : "\n";
  }
  return text + "1 97:1\n";
}

void expect_same_libsvm(const std::filesystem::path& path, LibsvmOptions options) {
  const auto whole = read_libsvm(path, options, comm::Communicator::self(), 1);
  for (const int n_threads : {1, 3}) {
    for (const std::size_t chunk_bytes : {37UL, 4096UL, 1UL << 20}) {
      options.chunk_bytes = chunk_bytes;
      const auto table = read_libsvm(path, options, world(), n_threads);
      EXPECT_EQ(table.schema(), whole.schema());
      EXPECT_EQ(table.rows(), table::rows_of(whole.n_rows(), world().rank(), world().size()));
      EXPECT_EQ(gathered_bits(table), table_bits(whole));
    }
    EXPECT_EQ(table_bits(joined(*open_libsvm(path, options, world(), n_threads, 1))),
              table_bits(read_libsvm(path, options, world(), 1)));
  }
}

TEST(LibsvmDistributed, TheTableIsTheSameOnAnyNumberOfRanksAndThreads) {
  const std::string text = libsvm_rows(6000);
  const SharedFile plain(text), packed(gzip(text));
  for (const auto* const file : {&plain, &packed}) {
    expect_same_libsvm(file->path(), {});
    expect_same_libsvm(file->path(), {.columns = {"f97", "f3", "f11"}, .rows = {100, 5500}});
  }
}

TEST(LibsvmDistributed, FeaturesAreThoseOfTheWholeFileOnEveryRank) {
  const SharedFile file(libsvm_rows(6000));
  EXPECT_EQ(read_libsvm(file.path(), {.rows = {.last_row = 10}}, world(), 2).n_features(), 97);
}

TEST(LibsvmDistributed, RanksWithoutRowsHoldAnEmptyTable) {
  const SharedFile file("1 1:1\n2 4:1\n");
  const auto table = read_libsvm(file.path(), {}, world(), 2);
  EXPECT_EQ(table.n_global_rows(), 2);
  EXPECT_EQ(table.n_rows(), world().is_root() ? 2 : 0);
  EXPECT_EQ(table.n_features(), 4);
}

TEST(LibsvmDistributed, AllRanksReportTheFirstFaultOfTheFile) {
  std::string text = libsvm_rows(6000);
  text.insert(text.find('\n', text.size() / 2) + 1, "1 5:x\n");
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("5:x")), '\n');
  const SharedFile file(text + "1 2:1 1:1\n");
  for (const std::size_t chunk_bytes : {100UL, 1UL << 20}) {
    try {
      read_libsvm(file.path(), {.chunk_bytes = chunk_bytes}, world(), 2);
      FAIL() << "not refused";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(),
                fmt::format("{}:{}: the value of index 5 is 'x', which is no number", file.path().string(), line));
    }
  }
}

}  // namespace
}  // namespace podere::io
