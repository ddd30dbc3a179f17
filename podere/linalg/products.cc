#include "podere/linalg/products.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/parallel.h"
#include "podere/linalg/block_kernel.h"
#include "podere/linalg/product_sums.h"

namespace podere::linalg {
namespace {

/// What the threads of this executor summed.
Eigen::MatrixXd total_of(std::vector<ProductSums> sums, const comm::Communicator& comm) {
  while (sums.size() > 1) {
    sums.front().add(sums.back());
    sums.pop_back();
  }
  return sums.front().total(comm);
}

/// Rows of a matrix here, under a map and packed.
struct Block {
  std::size_t first;
  std::size_t n_rows;
  double* values;
};

/// Rows of a matrix that is packed block by block.
struct PackedRows {
  std::uint64_t n_global_rows;
  std::size_t n_rows;
  std::size_t n_columns;
  std::size_t n_unpacked;  // numbers that pack_rows() needs a place for
  std::function<void(std::size_t begin, std::size_t end, std::span<double> unpacked, double* packed)> pack_rows;
};

PackedRows rows_of(const TallRows& a, const ColumnMap& map) {
  return {a.n_global_rows(), a.n_rows(), a.n_columns(), 0,
          [&](std::size_t begin, std::size_t end, std::span<double> /*unpacked*/, double* packed) {
            const std::size_t n = a.n_columns();
            pack(a.values().subspan(begin * n, (end - begin) * n), map.shift, map.factor, packed);
          }};
}

PackedRows rows_of(const RowBlocks& a) {
  return {a.n_global_rows, a.n_rows, a.n_columns, kChainRows * a.n_columns,
          [&a, map = ColumnMap::identity(a.n_columns)](std::size_t begin, std::size_t end, std::span<double> unpacked,
                                                       double* packed) {
            const std::span<double> values = unpacked.first((end - begin) * a.n_columns);
            a.fill(begin, end, values);
            pack(values, map.shift, map.factor, packed);
          }};
}

/// Calls use(worker, block) for all rows here, on threads each of which has a worker of its own, which make() makes.
/// Returns the workers, of which there is one at least.
template <typename Make, typename Use>
auto on_blocks(const PackedRows& a, int n_threads, Make&& make, Use&& use) {
  const std::size_t n = a.n_columns;
  const std::size_t n_workers = std::clamp<std::size_t>((a.n_rows + kChainRows - 1) / kChainRows, 1,
                                                        static_cast<std::size_t>(std::max(n_threads, 1)));
  std::vector<HugeArray<double>> packed, unpacked;
  std::vector<decltype(make())> workers;
  for (std::size_t i = 0; i < n_workers; ++i) {
    packed.emplace_back(packed_size(kChainRows, n));
    unpacked.emplace_back(a.n_unpacked);
    workers.push_back(make());
  }
  parallel_for_slices(static_cast<int>(n_workers), a.n_rows, kChainRows,
                      [&](std::size_t begin, std::size_t end, int thread) {
                        const auto mine = static_cast<std::size_t>(thread);
                        const Block block{begin, end - begin, packed[mine].data()};
                        a.pack_rows(begin, end, unpacked[mine].span(), block.values);
                        use(workers[mine], block);
                      });
  return workers;
}

/// X as a block of rows, with zeros in columns up to a whole number of kResultColumns.
struct PackedColumns {
  std::size_t n_columns;
  HugeArray<double> values;
};
PackedColumns pack_columns(const Eigen::MatrixXd& x) {
  const auto n = static_cast<std::size_t>(x.rows());
  const auto l = static_cast<std::size_t>(x.cols());
  const std::size_t n_columns = (l + kResultColumns - 1) / kResultColumns * kResultColumns;
  std::vector<double> rows(n * n_columns);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < l; ++j) {
      rows[i * n_columns + j] = x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
  }
  PackedColumns packed{n_columns, HugeArray<double>(packed_size(n, n_columns))};
  const ColumnMap as_they_are = ColumnMap::identity(n_columns);
  pack(rows, as_they_are.shift, as_they_are.factor, packed.values.data());
  return packed;
}

double n_blocks(std::uint64_t n_global_rows) {
  return std::ceil(static_cast<double>(n_global_rows) / static_cast<double>(kChainRows)) + 1;
}

Eigen::MatrixXd gram_of(const PackedRows& a, const comm::Communicator& comm, int n_threads) {
  const std::size_t n = a.n_columns;
  const Splitters splitters = splitters_for(static_cast<double>(a.n_global_rows) + 1, n_blocks(a.n_global_rows));
  auto sums = on_blocks(
      a, n_threads, [&] { return ProductSums(n, n, true); },
      [&](ProductSums& mine, const Block& block) { mine.add(block.values, block.values, block.n_rows, splitters); });
  return total_of(std::move(sums), comm);
}

Products products_of(const PackedRows& a, const Eigen::MatrixXd& x, const comm::Communicator& comm, int n_threads) {
  const std::size_t n = a.n_columns;
  const PackedColumns columns = pack_columns(x);
  const std::size_t l = columns.n_columns;
  // Of rows of A the norms are at most sqrt(n), and so are values of A X. By rounding they are a little more.
  const double rows = 1.1 * (static_cast<double>(a.n_global_rows) + 1);
  const Splitters for_xaax = splitters_for(rows * static_cast<double>(n), n_blocks(a.n_global_rows));
  const Splitters for_aax = splitters_for(rows * std::sqrt(static_cast<double>(n)), n_blocks(a.n_global_rows));
  struct Worker {
    HugeArray<double> result;
    HugeArray<double> packed_result;
    ProductSums xaax;
    ProductSums aax;
  };
  const ColumnMap as_they_are = ColumnMap::identity(l);
  auto workers = on_blocks(
      a, n_threads,
      [&] {
        return Worker{HugeArray<double>(kChainRows * l), HugeArray<double>(packed_size(kChainRows, l)),
                      ProductSums(l, l, true), ProductSums(n, l, false)};
      },
      [&](Worker& mine, const Block& block) {
        multiply_packed(block.values, block.n_rows, n, columns.values.data(), l, mine.result.data());
        double* const packed = mine.packed_result.data();
        pack(mine.result.span().first(block.n_rows * l), as_they_are.shift, as_they_are.factor, packed);
        mine.xaax.add(packed, packed, block.n_rows, for_xaax);
        mine.aax.add(block.values, packed, block.n_rows, for_aax);
      });
  std::vector<ProductSums> xaax, aax;
  for (Worker& worker : workers) {
    xaax.push_back(std::move(worker.xaax));
    aax.push_back(std::move(worker.aax));
  }
  return {total_of(std::move(xaax), comm).topLeftCorner(x.cols(), x.cols()),
          total_of(std::move(aax), comm).leftCols(x.cols())};
}

}  // namespace

void use_the_same_blocks_everywhere() { Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20); }

Eigen::MatrixXd gram(const TallRows& a, const ColumnMap& map, const comm::Communicator& comm, int n_threads) {
  return gram_of(rows_of(a, map), comm, n_threads);
}

Eigen::MatrixXd gram(const RowBlocks& a, const comm::Communicator& comm, int n_threads) {
  return gram_of(rows_of(a), comm, n_threads);
}

Products products(const TallRows& a, const ColumnMap& map, const Eigen::MatrixXd& x, const comm::Communicator& comm,
                  int n_threads) {
  return products_of(rows_of(a, map), x, comm, n_threads);
}

Products products(const RowBlocks& a, const Eigen::MatrixXd& x, const comm::Communicator& comm, int n_threads) {
  return products_of(rows_of(a), x, comm, n_threads);
}

Eigen::VectorXd column_sums(const TallRows& a, const ColumnMap& map, Power power, const comm::Communicator& comm,
                            int n_threads) {
  const std::size_t n = a.n_columns();
  const Splitters splitters = splitters_for(static_cast<double>(a.n_global_rows()) + 1, n_blocks(a.n_global_rows()));
  HugeArray<double> ones(packed_size(kChainRows, 1));
  std::ranges::fill(ones.span(), 1.0);
  auto sums = on_blocks(
      rows_of(a, map), n_threads, [&] { return ProductSums(n, 1, false); },
      [&](ProductSums& mine, const Block& block) {
        if (power == Power::kSecond) {
          for (double& value : std::span(block.values, packed_size(block.n_rows, n))) value *= value;
        }
        mine.add(block.values, ones.data(), block.n_rows, splitters);
      });
  return total_of(std::move(sums), comm).col(0);
}

TallMatrix multiply(const TallRows& a, const ColumnMap& map, const Eigen::MatrixXd& x, int n_threads) {
  const PackedColumns columns = pack_columns(x);
  const auto l = static_cast<std::size_t>(x.cols());
  TallMatrix result(a.n_global_rows(), l, a.rows());
  on_blocks(
      rows_of(a, map), n_threads, [&] { return HugeArray<double>(kChainRows * columns.n_columns); },
      [&](HugeArray<double>& mine, const Block& block) {
        multiply_packed(block.values, block.n_rows, a.n_columns(), columns.values.data(), columns.n_columns,
                        mine.data());
        for (std::size_t i = 0; i < block.n_rows; ++i) {
          std::copy_n(mine.data() + i * columns.n_columns, l, result.row(block.first + i).data());
        }
      });
  return result;
}

}  // namespace podere::linalg
