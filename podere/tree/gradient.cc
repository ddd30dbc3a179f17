#include "podere/tree/gradient.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/base/portable_math.h"
#include "podere/comm/exact_reduce.h"
#include "podere/tree/fixed_point.h"
#include "podere/tree/gradient_kernel.h"
#include "podere/tree/objective.h"

namespace podere::tree {
namespace {

double largest_abs(const std::vector<Gradient>& gradients, float Gradient::*derivative,
                   const comm::Communicator& comm) {
  float largest = 0;
  for (const Gradient& gradient : gradients) largest = std::max(largest, std::abs(gradient.*derivative));
  return comm.all_reduce(largest, comm::Reduction::kMax);
}

void find_bounds(const Options& options, double max_abs_weight, const comm::Communicator& comm, Gradients& gradients) {
  const DerivativeBounds bounds = traits_of(options.objective).bounds(options);
  gradients.max_abs_g = bounds.g > 0 ? max_abs_weight * bounds.g : largest_abs(gradients.values, &Gradient::g, comm);
  gradients.max_abs_h = bounds.h > 0 ? max_abs_weight * bounds.h : largest_abs(gradients.values, &Gradient::h, comm);
}

}  // namespace

void compute_gradients(const Options& options, const LabeledRows& rows, std::span<const float> margins,
                       std::size_t n_outputs, const comm::Communicator& comm, int n_threads, Gradients& gradients) {
  const std::size_t n_rows = rows.label.size();
  gradients.n_rows = n_rows;
  gradients.values.resize(n_outputs * n_rows);
  const auto kernel = traits_of(options.objective).gradients;
  const double hessian_factor = portable_exp(options.max_delta_step);
  static const std::vector<float> ones(table::kBlockRows, 1.0F);
  std::vector<ExactSum> losses(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for_slices(n_threads, n_rows, table::kBlockRows, [&](std::size_t begin, std::size_t end, int thread) {
    losses[static_cast<std::size_t>(thread)].add(
        kernel({.margin = margins.data() + begin,
                .label = rows.label.data() + begin,
                .weight = rows.weight.empty() ? ones.data() : &rows.weight[begin],
                .gradient = gradients.values.data() + begin,
                .n = end - begin,
                .stride = n_rows,
                .n_outputs = n_outputs,
                .quantile = options.quantile,
                .hessian_factor = hessian_factor}));
  });
  for (std::size_t t = 1; t < losses.size(); ++t) losses[0].add(losses[t]);
  comm::all_reduce(comm, std::span(losses).first(1));
  gradients.loss = losses[0].value() / rows.weight_sum;
  find_bounds(options, rows.max_abs_weight, comm, gradients);
}

double gradient_noise(const Gradients& gradients, std::size_t output, std::span<const std::uint32_t> rows,
                      std::uint64_t n_global_rows, const comm::Communicator& comm, int n_threads) {
  const std::span<const Gradient> own = gradients.of_output(output);
  const double g_scale = fixed_point_scale(gradients.max_abs_g * gradients.max_abs_g, n_global_rows);
  const double h_scale = fixed_point_scale(gradients.max_abs_h, n_global_rows);
  std::vector<std::int64_t> sums(2);
  constexpr std::size_t kGrain = 65536;
  parallel_for_slices(n_threads, rows.size(), kGrain, [&](std::size_t begin, std::size_t end, int) {
    std::int64_t g = 0;
    std::int64_t h = 0;
    for (const std::uint32_t row : rows.subspan(begin, end - begin)) {
      const Gradient& gradient = own[row];
      g += static_cast<std::int64_t>(static_cast<double>(gradient.g) * gradient.g * g_scale);
      h += static_cast<std::int64_t>(gradient.h * h_scale);
    }
    std::atomic_ref(sums[0]) += g;
    std::atomic_ref(sums[1]) += h;
  });
  comm.all_reduce(std::span(sums), comm::Reduction::kSum);
  return sums[1] > 0 ? static_cast<double>(sums[0]) / g_scale / (static_cast<double>(sums[1]) / h_scale) : 0;
}

}  // namespace podere::tree
