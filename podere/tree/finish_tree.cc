#include "podere/tree/finish_tree.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "podere/base/parallel.h"
#include "podere/tree/category_split.h"
#include "podere/tree/fixed_point.h"
#include "podere/tree/objective.h"

namespace podere::tree {
namespace {

/// Calls `body(node, rows)` in parallel for runs of rows that cover all leaves.
template <typename Body>
void for_each_leaf_run(const GrownTree& grown, int n_threads, Body&& body) {
  constexpr std::size_t kRunRows = 8192;
  std::vector<std::pair<std::size_t, Slice>> runs;
  for (const auto& [n, rows] : leaves_of(grown)) {
    for (std::size_t begin = rows.begin; begin < rows.end; begin += kRunRows) {
      runs.push_back({n, {begin, std::min(begin + kRunRows, rows.end)}});
    }
  }
  parallel_for(n_threads, runs.size(), [&](std::size_t r, int) {
    const auto& [n, slice] = runs[r];
    body(n, grown.rows.subspan(slice.begin, slice.end - slice.begin));
  });
}

/// G and H of each node: fixed-point numbers, so that the sums are exact.
class NodeSums {
 public:
  /// Collective.
  NodeSums(const GrowContext& context, const GrownTree& grown, const Gradients& gradients, std::size_t output)
      : g_scale_(fixed_point_scale(gradients.max_abs_g, context.n_global_rows)),
        h_scale_(fixed_point_scale(gradients.max_abs_h, context.n_global_rows)),
        sums_(2 * grown.nodes.size()) {
    add_leaves(grown, gradients.of_output(output), context.n_threads);
    context.comm.all_reduce(std::span(sums_), comm::Reduction::kSum);
    for (std::size_t n = grown.nodes.size(); n-- > 0;) {  // children before parents
      if (grown.nodes[n].is_leaf()) continue;
      const std::size_t left = 2 * grown.nodes[n].left;
      for (const std::size_t part : {0, 1}) sums_[2 * n + part] = sums_[left + part] + sums_[left + 2 + part];
    }
  }

  double g(std::size_t node) const { return static_cast<double>(sums_[2 * node]) / g_scale_; }
  double h(std::size_t node) const { return static_cast<double>(sums_[2 * node + 1]) / h_scale_; }

 private:
  void add_leaves(const GrownTree& grown, std::span<const Gradient> gradients, int n_threads) {
    for_each_leaf_run(grown, n_threads, [&](std::size_t n, std::span<const std::uint32_t> rows) {
      std::int64_t g = 0;
      std::int64_t h = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        prefetch_ahead(gradients.data(), rows, i);
        const Gradient& gradient = gradients[rows[i]];
        g += static_cast<std::int64_t>(gradient.g * g_scale_);
        h += static_cast<std::int64_t>(gradient.h * h_scale_);
      }
      std::atomic_ref(sums_[2 * n]) += g;
      std::atomic_ref(sums_[2 * n + 1]) += h;
    });
  }

  double g_scale_;
  double h_scale_;
  std::vector<std::int64_t> sums_;  // [n_nodes x 2] of g and h
};

/// The nearest finite float: models hold no others.
float finite_float(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

/// From bins to values. The set of a split of categories goes to `category_sets`.
Node split_node(const GrowNode& grown, const BinnedRows& binned,
                std::vector<std::vector<std::int32_t>>& category_sets) {
  const Split& split = grown.split;
  const FeatureCuts& cuts = binned.cuts(static_cast<std::size_t>(split.feature));
  Node node;
  node.feature = split.feature;
  node.left = static_cast<std::int32_t>(grown.left);
  node.missing_left = split.missing_left;
  node.gain = finite_float(split.gain);
  if (split.is_categorical) {
    node.category_set = static_cast<std::int32_t>(category_sets.size());
    category_sets.push_back(category_set(split, cuts));
  } else {
    node.threshold = cuts.cuts[static_cast<std::size_t>(split.bin)];
  }
  return node;
}

/// Newton's, within what the objective allows.
double step_of(double g, double h, const Options& options) {
  // Without a limit a few large counts could take the exponential beyond all numbers in one step.
  const double longest = traits_of(options.objective).has_max_delta_step ? options.max_delta_step
                                                                         : std::numeric_limits<double>::infinity();
  // Negative weights can leave a leaf without weight: it then says nothing.
  return h + options.lambda > 0 ? std::clamp(-g / (h + options.lambda), -longest, longest) : 0.0;
}

std::size_t leaf_of(const GrownTree& grown, std::size_t row) {
  std::size_t n = 0;
  while (!grown.nodes[n].is_leaf()) {
    const Split& split = grown.nodes[n].split;
    const auto feature = static_cast<std::size_t>(split.feature);
    const std::size_t bin = grown.binned.column(feature)[row];
    const bool is_missing = std::cmp_equal(bin, grown.binned.cuts(feature).missing_bin());
    n = grown.nodes[n].left + ((is_missing ? split.missing_left : split.value_goes_left(bin)) ? 0 : 1);
  }
  return n;
}

}  // namespace

std::vector<LeafRows> leaves_of(const GrownTree& grown) {
  std::vector<LeafRows> leaves;
  for (std::size_t n = 0; n < grown.nodes.size(); ++n) {
    if (grown.nodes[n].is_leaf()) leaves.push_back({n, grown.nodes[n].rows});
  }
  return leaves;
}

Tree finish_tree(const GrowContext& context, const GrownTree& grown, const Gradients& gradients, std::size_t output) {
  const NodeSums sums(context, grown, gradients, output);
  Tree tree;
  tree.nodes.resize(grown.nodes.size());
  for (std::size_t n = grown.nodes.size(); n-- > 0;) {  // sets of categories are numbered from the last node
    const GrowNode& from = grown.nodes[n];
    Node& node = tree.nodes[n];
    if (from.is_leaf()) {
      const double step = step_of(sums.g(n), sums.h(n), context.options);
      node.value = finite_float(context.options.learning_rate * step);
    } else {
      node = split_node(from, grown.binned, tree.category_sets);
    }
    node.cover = finite_float(sums.h(n));
  }
  return tree;
}

void add_to_margins(const GrownTree& grown, const Tree& tree, std::span<const std::uint8_t> is_followed, int n_threads,
                    std::span<float> margins) {
  for_each_leaf_run(grown, n_threads, [&](std::size_t n, std::span<const std::uint32_t> rows) {
    const float value = tree.nodes[n].value;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      prefetch_ahead(margins.data(), rows, i);
      margins[rows[i]] += value;
    }
  });
  const std::size_t n_rows = grown.binned.n_rows();
  if (grown.rows.size() == n_rows) return;
  // Rows that the tree was not grown on.
  std::vector<std::uint8_t> is_done(n_rows);
  for (std::size_t row = 0; row < is_followed.size(); ++row) is_done[row] = is_followed[row] == 0 ? 1 : 0;
  for (const std::uint32_t row : grown.rows) is_done[row] = 1;
  constexpr std::size_t kGrain = 4096;
  parallel_for_slices(n_threads, n_rows, kGrain, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t row = begin; row < end; ++row) {
      if (is_done[row] == 0) margins[row] += tree.nodes[leaf_of(grown, row)].value;
    }
  });
}

}  // namespace podere::tree
