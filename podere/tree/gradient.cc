#include "podere/tree/gradient.h"

#include <algorithm>
#include <cmath>

#include "podere/base/exact_sum.h"
#include "podere/base/parallel.h"
#include "podere/comm/exact_reduce.h"
#include "podere/tree/gradient_kernel.h"

namespace podere::tree {
namespace {

double largest_abs_g(const std::vector<Gradient>& gradients, const comm::Communicator& comm) {
  float largest = 0;
  for (const Gradient& gradient : gradients) largest = std::max(largest, std::abs(gradient.g));
  return comm.all_reduce(largest, comm::Reduction::kMax);
}

}  // namespace

void compute_gradients(Objective objective, const LabelledRows& rows, std::span<const float> margins,
                       std::size_t n_outputs, const comm::Communicator& comm, int n_threads, Gradients& gradients) {
  const std::size_t n_rows = rows.label.size();
  gradients.values.resize(n_outputs * n_rows);
  const auto kernel = objective == Objective::kBinaryLogistic ? logistic_gradients
                      : objective == Objective::kSoftmax      ? softmax_gradients
                                                              : squared_error_gradients;
  std::vector<ExactSum> losses(static_cast<std::size_t>(std::max(n_threads, 1)));
  parallel_for_slices(n_threads, n_rows, table::kBlockRows, [&](std::size_t begin, std::size_t end, int thread) {
    losses[static_cast<std::size_t>(thread)].add(kernel({.margin = margins.data() + begin,
                                                         .label = rows.label.data() + begin,
                                                         .weight = rows.weight.data() + begin,
                                                         .gradient = gradients.values.data() + begin,
                                                         .n = end - begin,
                                                         .stride = n_rows,
                                                         .n_outputs = n_outputs}));
  });
  for (std::size_t t = 1; t < losses.size(); ++t) losses[0].add(losses[t]);
  comm::all_reduce(comm, std::span(losses).first(1));
  gradients.loss = losses[0].value() / rows.weight_sum;

  // Probabilities bound the derivatives of the other two: |p - y| <= 1, p (1 - p) <= 1/4.
  const double w = rows.max_abs_weight;
  gradients.max_abs_g = objective == Objective::kSquaredError ? largest_abs_g(gradients.values, comm) : w;
  gradients.max_abs_h = objective == Objective::kBinaryLogistic ? w / 4 : objective == Objective::kSoftmax ? w / 2 : w;
}

}  // namespace podere::tree
