#include "podere/linear/scaled_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/table/check_numbers.h"
#include "podere/table/weighted_labels.h"

namespace podere::linear {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// Features and label, the latter last.
std::span<const float> column(const Rows& rows, std::size_t j) {
  return j < rows.n_features() ? rows.columns[j] : rows.label;
}

}  // namespace

Rows checked_rows(const table::Table& table, const std::string& need, const comm::Communicator& comm, int n_threads) {
  table::weigh_labels(table, {}, 0, {}, "training", comm);  // checks them
  table::check_weights(table, comm, n_threads);
  Rows rows{.columns = {}, .label = table.label(), .weight = table.weight(), .n_global_rows = table.n_global_rows()};
  for (std::size_t j = 0; j < table.n_features(); ++j) rows.columns.push_back(table.feature(j));
  table::check_complete(rows.columns, table.schema().features, table.global({0}), need, comm, n_threads);
  return rows;
}

Scales measure_scales(const Rows& rows, const comm::Communicator& comm, int n_threads) {
  const std::size_t n = rows.n_features() + 1;
  std::vector<ExactSum> sums(n + 1);                                        // the sum of the weights last
  std::vector<float> least(2 * n, std::numeric_limits<float>::infinity());  // of values, and of negated ones
  parallel_for(n_threads, n, [&](std::size_t j, int) {
    const std::span<const float> values = column(rows, j);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (rows.weight_of(i) == 0) continue;
      sums[j].add(double{rows.weight_of(i)} * double{values[i]});
      least[2 * j] = std::min(least[2 * j], values[i]);
      least[2 * j + 1] = std::min(least[2 * j + 1], -values[i]);
    }
  });
  float largest_weight = 0;
  for (std::size_t i = 0; i < rows.n_rows(); ++i) {
    sums[n].add(double{rows.weight_of(i)});
    largest_weight = std::max(largest_weight, rows.weight_of(i));
  }
  comm::all_reduce(comm, std::span(sums));
  comm.all_reduce(std::span(least), comm::Reduction::kMin);
  Scales scales{VectorXd(n), VectorXd(n), double{comm.all_reduce(largest_weight, comm::Reduction::kMax)}};
  for (std::size_t j = 0; j < n; ++j) {
    const auto place = static_cast<Index>(j);
    const double smallest = double{least[2 * j]} + 0.0;  // of -0 and 0 either may have come first
    const double largest = 0.0 - double{least[2 * j + 1]};
    const double mean = smallest == largest ? smallest : sums[j].value() / sums[n].value();  // exactly, of a constant
    const double reach = std::max(largest - mean, mean - smallest);
    scales.shift[place] = mean;
    scales.factor[place] = reach > 0 ? std::ldexp(1.0, -std::ilogb(reach) - 1) : 1;
  }
  return scales;
}

linalg::RowBlocks scaled_blocks(const Rows& rows, const Scales& scales, std::size_t n, FillFeatures fill) {
  const auto fill_all = [&rows, &scales, n, fill = std::move(fill)](std::size_t begin, std::size_t end,
                                                                    std::span<double> values) {
    const std::size_t stride = n + 2;
    fill(begin, end, values.data(), stride);
    const double shift = scales.shift[scales.shift.size() - 1];
    const double factor = scales.factor[scales.factor.size() - 1];
    for (std::size_t i = begin; i < end; ++i) {
      const std::span<double> row = values.subspan((i - begin) * stride, stride);
      row[n] = 1;
      row[n + 1] = (double{rows.label[i]} - shift) * factor;
      if (rows.weight.empty()) continue;
      const double root = std::sqrt(double{rows.weight[i]} / scales.largest_weight);
      for (double& value : row) value = root == 0 ? 0 : value * root;
    }
  };
  return {.n_global_rows = rows.n_global_rows, .n_rows = rows.n_rows(), .n_columns = n + 2, .fill = fill_all};
}

linalg::RowBlocks scaled_blocks(const Rows& rows, const Scales& scales) {
  const auto fill = [&rows, &scales](std::size_t begin, std::size_t end, double* values, std::size_t stride) {
    for (std::size_t j = 0; j < rows.n_features(); ++j) {
      const double shift = scales.shift[static_cast<Index>(j)];
      const double factor = scales.factor[static_cast<Index>(j)];
      const std::span<const float> from = rows.columns[j];
      for (std::size_t i = begin; i < end; ++i) values[(i - begin) * stride + j] = (double{from[i]} - shift) * factor;
    }
  };
  return scaled_blocks(rows, scales, rows.n_features(), fill);
}

Remainder remainder_of(const linalg::RowBlocks& blocks, const VectorXd& solution, const comm::Communicator& comm,
                       int n_threads) {
  VectorXd x(solution.size() + 1);
  x << solution, -1;  // Z x: minus what is left of the label
  const double norm = x.norm();
  const linalg::Products products = linalg::products(blocks, x / norm, comm, n_threads);
  return {products.aax.col(0).head(solution.size()) * norm, products.xaax(0, 0) * norm * norm};
}

}  // namespace podere::linear
