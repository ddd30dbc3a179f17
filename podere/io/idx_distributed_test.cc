#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/io/distributed_reference.h"
#include "podere/io/idx.h"
#include "podere/io/idx_reference.h"

namespace podere::io {
namespace {

std::vector<std::int16_t> random_values(std::size_t n) {
  RandomSequence random(7, 0, n);
  std::vector<std::int16_t> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<std::int16_t>(random.next()));
  return values;
}

TEST(IdxDistributed, TheTableIsTheSameOnAnyNumberOfRanksAndThreads) {
  const std::string images = idx_file(0x0b, {6000, 13, 9}, random_values(6000 * 13 * 9));
  const SharedFile plain(images), packed(gzip(images)), labels(idx_file(0x0b, {6000}, random_values(6000)));
  const IdxOptions options{.labels = labels.path(), .columns = {}, .rows = {11, 5800}};
  const auto whole = read_idx(plain.path(), options, comm::Communicator::self(), 1);
  EXPECT_EQ(whole.n_features(), 117);
  for (const auto* const file : {&plain, &packed}) {
    for (const int n_threads : {1, 3}) {
      const auto table = read_idx(file->path(), options, world(), n_threads);
      EXPECT_EQ(table.schema(), whole.schema());
      EXPECT_EQ(table.rows(), table::rows_of(whole.n_rows(), world().rank(), world().size()));
      EXPECT_EQ(gathered_bits(table), table_bits(whole));
      EXPECT_EQ(table_bits(joined(*open_idx(file->path(), options, world(), n_threads, 1))), table_bits(table));
    }
  }
}

TEST(IdxDistributed, RanksWithoutRowsHoldAnEmptyTable) {
  const SharedFile file(idx_file<std::int8_t>(0x09, {3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto table = read_idx(file.path(), {}, world(), 2);
  EXPECT_EQ(table.n_global_rows(), 3);
  EXPECT_EQ(table.n_rows(), world().is_root() ? 3 : 0);
  EXPECT_EQ(table.n_features(), 2);
}

TEST(IdxDistributed, AllRanksRefuseWhatOneCannotRead) {
  std::vector<double> values(5000, 1);
  values.back() = 1e300;  // in the rows of the last rank that has some
  const SharedFile file(idx_file(0x0e, {5000}, values)), cut("\0\0");
  EXPECT_THROW(read_idx(file.path(), {}, world(), 2), InputError);
  EXPECT_THROW(open_idx(file.path(), {}, world(), 2), InputError);
  EXPECT_THROW(read_idx(cut.path(), {}, world(), 2), InputError);
  EXPECT_EQ(
      read_idx(file.path(), {.labels = {}, .columns = {}, .rows = {.last_row = 4999}}, world(), 2).n_global_rows(),
      4999);
}

TEST(IdxDistributed, FilesThatDifferFromRankToRankAreRefused) {
  if (world().size() == 1) GTEST_SKIP() << "there is one rank";
  const std::uint32_t n_rows = world().is_root() ? 3 : 4;
  const TemporaryFile own(idx_file(0x09, {n_rows}, std::vector<std::int8_t>(n_rows)));
  EXPECT_THROW(read_idx(own.path(), {}, world(), 1), InputError);
}

}  // namespace
}  // namespace podere::io
