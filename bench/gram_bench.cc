// gram_bench [--rows N] [--threads N] [--columns N...]: A^T A and A^T A X of tall float64 matrices in memory, by
// podere/linalg and, if it was there when this was built, by OpenBLAS, in turns. One line of JSON a shape: GFLOP/s of
// each, medians of 5, once the answers agree. Of A^T A both compute one triangle.
//
// Example: build/release/bench/gram_bench --rows 50000 --threads 2 --columns 64 500
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/linalg/products.h"

#ifdef PODERE_BENCH_OPENBLAS
#include <cblas.h>
#endif

namespace {

using Eigen::MatrixXd;
using podere::linalg::ColumnMap;
using podere::linalg::TallMatrix;

constexpr int kTurns = 5;
constexpr Eigen::Index kResults = 32;  // columns of X

TallMatrix random_matrix(std::uint64_t n_rows, std::size_t n_columns, int n_threads) {
  TallMatrix a(n_rows, n_columns, podere::table::rows_of(n_rows, 0, 1));
  podere::parallel_for_slices(n_threads, a.values().size(), 1 << 16, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) a.values()[i] = podere::uniform01(podere::hash64(1, 0, i)) - 0.5;
  });
  return a;
}

double seconds_of(const std::function<void()>& work) {
  const podere::Stopwatch watch;
  work();
  return watch.seconds();
}

double median_rate(double flop, std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return flop / seconds[kTurns / 2] / 1e9;
}

void expect_close(const MatrixXd& found, const MatrixXd& right, const char* what) {
  const double difference = (found - right).cwiseAbs().maxCoeff();
  if (difference <= 1e-12 * right.cwiseAbs().maxCoeff()) return;
  fmt::print(stderr, "gram_bench: {} differs by {}\n", what, difference);
  std::exit(1);
}

void measure(std::uint64_t n_rows, std::size_t n_columns, int n_threads) {
  const auto comm = podere::comm::Communicator::self();
  const TallMatrix a = random_matrix(n_rows, n_columns, n_threads);
  const auto n = static_cast<Eigen::Index>(n_columns);
  const ColumnMap map = ColumnMap::identity(n_columns);
  const MatrixXd x = MatrixXd::Constant(n, kResults, 1 / std::sqrt(static_cast<double>(n)));
  MatrixXd gram;
  podere::linalg::Products products;
  std::vector<double> gram_seconds;
  std::vector<double> products_seconds;
  std::vector<double> blas_seconds;
  for (int turn = 0; turn < kTurns; ++turn) {
    gram_seconds.push_back(seconds_of([&] { gram = podere::linalg::gram(a, map, comm, n_threads); }));
    products_seconds.push_back(seconds_of([&] { products = podere::linalg::products(a, map, x, comm, n_threads); }));
#ifdef PODERE_BENCH_OPENBLAS
    MatrixXd by_blas(n, n);
    openblas_set_num_threads(n_threads);
    blas_seconds.push_back(seconds_of([&] {
      cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, static_cast<int>(n), static_cast<int>(n_rows), 1,
                  a.values().data(), static_cast<int>(n), 0, by_blas.data(), static_cast<int>(n));
    }));
    by_blas.triangularView<Eigen::StrictlyLower>() = by_blas.transpose();
    expect_close(gram, by_blas, "A^T A");
#endif
    expect_close(products.aax, gram * x, "A^T A X");
    expect_close(products.xaax, x.transpose() * gram * x, "(A X)^T A X");
  }
  const double size = static_cast<double>(n_rows) * static_cast<double>(n_columns);
  const double gram_flop = size * static_cast<double>(n_columns + 1);
  fmt::print(R"({{"bench": "gram", "rows": {}, "columns": {}, "threads": {}, "podere": {:.1f}, "openblas": {}, )"
             R"("products": {:.1f}}})"
             "\n",
             n_rows, n_columns, n_threads, median_rate(gram_flop, gram_seconds),
             blas_seconds.empty() ? "null" : fmt::format("{:.1f}", median_rate(gram_flop, blas_seconds)),
             median_rate(4 * size * kResults, products_seconds));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Products of tall matrices");
  std::uint64_t n_rows = 50000;
  int n_threads = 1;
  std::vector<std::size_t> columns = {64, 500, 1000, 2000};
  app.add_option("--rows", n_rows, "Rows")->check(CLI::Range(1, 100'000'000));
  app.add_option("--threads", n_threads, "Threads")->check(CLI::Range(1, 1024));
  app.add_option("--columns", columns, "Columns of each matrix")->check(CLI::Range(1, 20'000));
  CLI11_PARSE(app, argc, argv);
  for (const std::size_t n_columns : columns) measure(n_rows, n_columns, n_threads);
  return 0;
}
