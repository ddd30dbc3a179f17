// First and second derivatives of the loss at the current margins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/table/weighted_labels.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// Weighted derivatives of a row's loss by its margin.
struct Gradient {
  float g;
  float h;
};

/// The gradients of all rows at one point of the training, and their bounds over all ranks.
struct Gradients {
  std::vector<Gradient> values;  ///< [n_outputs x n_rows]
  std::size_t n_rows = 0;
  double max_abs_g = 0;  ///< |g| <= this, on every rank
  double max_abs_h = 0;  ///< |h| <= this, on every rank
  double loss = 0;       ///< weighted mean over the rows of all ranks

  std::span<const Gradient> of_output(std::size_t output) const {
    return std::span(values).subspan(output * n_rows, n_rows);
  }
};

/// The rows that gradients are made of; the first begins a row block. Rows set aside for validation have weight 0.
using table::LabeledRows;

/// Replaces `gradients` by those at `margins` [n_outputs x n_rows]. Collective: one all_reduce of an ExactSum, and
/// of the largest |g| for squared error and Poisson, of the largest |h| for Poisson.
///
///   logistic       p = 1 / (1 + exp(-m))    g = w (p - y)         h = w p (1 - p)        loss = w log(1 + exp(-+m))
///   softmax        p = exp(m_k) / sum       g = w (p_k - [y=k])   h = 2 w p_k (1 - p_k)  loss = -w log p_y
///   squared error                           g = w (m - y)         h = w                  loss = w (m - y)^2 / 2
///   Poisson        p = exp(m)               g = w (p - y)         h = w p exp(d)         loss = w (y log(y/p) - y + p)
///   quantile                                g = w ([m >= y] - q)  h = w                  loss = w (y - m) (q - [m >=
///   y])
///
/// d is max_delta_step: a margin that rises so much multiplies the second derivative by exp(d), so Newton's step is
/// computed with the largest on its way (XGBoost, LightGBM). Of quantiles h is made up: leaves get their values
/// otherwise (quantile_leaves.h). The loss of Poisson is half the deviance. Losses are added up within a row block in a
/// fixed order and exactly across blocks: the same bits for any number of ranks and threads.
void compute_gradients(const Options& options, const LabeledRows& rows, std::span<const float> margins,
                       std::size_t n_outputs, const comm::Communicator& comm, int n_threads, Gradients& gradients);

/// What G^2 / H of a few rows is on average if they are like the others: the sum of g^2 over the sum of h,
/// of `output` and of `rows` (local row numbers) on all ranks, which are at most `n_global_rows`. 0 where h sums to 0
/// or less. Collective: one all_reduce of two words. The same bits for any number of ranks and threads.
double gradient_noise(const Gradients& gradients, std::size_t output, std::span<const std::uint32_t> rows,
                      std::uint64_t n_global_rows, const comm::Communicator& comm, int n_threads);

}  // namespace podere::tree
