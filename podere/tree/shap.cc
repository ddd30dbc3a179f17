// A leaf of value w is met by a coalition S with weight  w prod_j (j in S ? o_j : z_j),  over the features j that its
// path splits on: o_j is 1 if the row takes all turns of the path that j decides, else 0; z_j is the product of the
// covers' shares there. Shapley's weights of coalitions are Beta integrals, |S|! (d-1-|S|)! / d! = int t^|S|
// (1-t)^(d-1-|S|) dt, so that what the leaf gives to feature i is
//
//   int_0^1  w (o_i - z_i) prod_{j != i} (t o_j + (1 - t) z_j)  dt
//
// whose integrand is a polynomial of degree d - 1: d / 2 points of Gauss and Legendre integrate it without error, and
// add up numbers of one sign. With D_j = t o_j + (1 - t) z_j, P = w prod_j D_j and h_j = (o_j - z_j) / D_j this is the
// sum over points of P h_i. Leaves below an edge share its D and h, those of the edge replace those of an earlier edge
// of the same feature: going down, P is multiplied by D / D_earlier; going up, an edge adds (h - h_earlier) x sum of P
// below to its feature. Both depend on the row only through o, so they are tables. D_earlier >= t > 0 where its o is 1;
// where it is 0 so is that of the edge, and the ratio is the share z / z_earlier: nothing divides by a cover of 0.
#include "podere/tree/shap.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/table/features.h"
#include "podere/tree/predict.h"
#include "podere/tree/shap_kernel.h"

namespace podere::tree {
namespace {

constexpr std::size_t kRowsPerTask = table::kBlockRows;

/// The share of the training rows at a split that went left.
double left_share(const Tree& tree, const Node& split) {
  const double left = std::max(0.0F, tree.nodes[static_cast<std::size_t>(split.left)].cover);
  const double right = std::max(0.0F, tree.nodes[static_cast<std::size_t>(split.left) + 1].cover);
  return left + right > 0 ? left / (left + right) : 0.5;
}

double expected_value(const Tree& tree) {
  std::vector<double> value(tree.nodes.size());
  for (std::size_t n = tree.nodes.size(); n-- > 0;) {
    const Node& node = tree.nodes[n];
    if (node.is_leaf()) {
      value[n] = node.value;
    } else {
      const auto left = static_cast<std::size_t>(node.left);
      const double share = left_share(tree, node);
      value[n] = share * value[left] + (1 - share) * value[left + 1];
    }
  }
  return value[0];
}

struct QuadraturePoint {
  double t;
  double weight;
};

/// The n points of Gauss and Legendre on [0, 1]: polynomials of degree 2n - 1 are integrated without error.
/// Roots of the Legendre polynomial by Newton's method.
std::vector<QuadraturePoint> gauss_legendre(std::size_t n) {
  std::vector<QuadraturePoint> points;
  for (std::size_t i = 0; i < n; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (static_cast<double>(n) + 0.5));
    double slope = 0;
    for (int step = 0; step < 10; ++step) {
      double before = 0;
      double value = 1;
      for (std::size_t k = 1; k <= n; ++k) {
        const auto degree = static_cast<double>(k);
        before = std::exchange(value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree);
      }
      slope = static_cast<double>(n) * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    points.push_back({(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)});
  }
  return points;
}

/// Sets what the factors of one split are at one point, which is in `lane` of its group. `share` is the cover's
/// share of each child, `z` the z_j of the split's feature above it.
void set_factors(ShapFactors* of_state, std::size_t lane, QuadraturePoint at, double z, const double (&share)[2]) {
  const double d = at.t + (1 - at.t) * z;
  for (const int child : {0, 1}) {
    ShapFactors& taken = of_state[child == 0 ? kLeft : kRight];
    ShapFactors& missed = of_state[child == 0 ? kRight : kLeft];
    const double z_child = z * share[child];
    const double d_taken = at.t + (1 - at.t) * z_child;
    taken.product[child].at[lane] = d_taken / d;
    taken.count[child].at[lane] = at.weight * (z - z_child) / (d_taken * d);
    missed.product[child].at[lane] = (1 - at.t) * z_child / d;
    missed.count[child].at[lane] = -at.weight / ((1 - at.t) * d);
    of_state[kAstray].product[child].at[lane] = share[child];
    of_state[kAstray].count[child].at[lane] = 0;
  }
}

/// Makes trees ready for the kernel.
class ShapTreeBuilder {
 public:
  explicit ShapTreeBuilder(std::size_t n_features) : slot_of_(n_features, -1) {}

  ShapTree build(const Tree& tree) {
    ShapTree result{.n_nodes = tree.nodes.size()};
    const std::size_t most_features = add_splits(tree, result);
    result.n_groups = (most_features + 2 * kPoints - 1) / (2 * kPoints);
    result.factors.resize(result.n_groups * result.splits.size() * kStates);
    const auto points = gauss_legendre(result.n_groups * kPoints);
    z_.assign(tree.nodes.size(), 1);
    for (std::size_t s = 0; s < result.splits.size(); ++s) {
      const ShapSplit& split = result.splits[s];
      const double left = left_share(tree, tree.nodes[split.node]);
      const double share[2] = {left, 1 - left};
      for (const std::size_t child : {0, 1}) z_[split.left + child] = z_[split.same] * share[child];
      for (std::size_t p = 0; p < points.size(); ++p) {
        ShapFactors* of_state = &result.factors[(p / kPoints * result.splits.size() + s) * kStates];
        set_factors(of_state, p % kPoints, points[p], z_[split.same], share);
        multiply_leaves(tree, split, of_state, p % kPoints);
      }
    }
    for (const std::int32_t feature : result.features) slot_of_[static_cast<std::size_t>(feature)] = -1;
    return result;
  }

 private:
  /// Returns the most different features on a path.
  std::size_t add_splits(const Tree& tree, ShapTree& result) {
    parent_.assign(tree.nodes.size(), -1);
    n_on_path_.assign(tree.nodes.size(), 0);
    std::size_t most = 0;
    for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
      const Node& node = tree.nodes[n];
      if (node.is_leaf() || (n > 0 && parent_[n] < 0)) continue;
      const auto left = static_cast<std::size_t>(node.left);
      const std::size_t same = nearest_on(tree, n, node.feature);
      for (const std::size_t child : {left, left + 1}) {
        if (parent_[child] >= 0) throw InputError("the model cannot be explained: a node of a tree has two parents");
        parent_[child] = static_cast<std::int32_t>(n);
        n_on_path_[child] = n_on_path_[n] + (same == 0 ? 1 : 0);
      }
      most = std::max(most, n_on_path_[left]);
      std::int32_t& slot = slot_of_[static_cast<std::size_t>(node.feature)];
      if (slot < 0) {
        slot = static_cast<std::int32_t>(result.features.size());
        result.features.push_back(node.feature);
      }
      result.splits.push_back({static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(left),
                               static_cast<std::uint32_t>(same), static_cast<std::uint32_t>(slot)});
    }
    return most;
  }

  /// The lowest node at or above `node` that is the child of a split on `feature`; 0 if there is none.
  std::size_t nearest_on(const Tree& tree, std::size_t node, std::int32_t feature) const {
    while (node > 0 && tree.nodes[static_cast<std::size_t>(parent_[node])].feature != feature)
      node = static_cast<std::size_t>(parent_[node]);
    return node;
  }

  static void multiply_leaves(const Tree& tree, const ShapSplit& split, ShapFactors* of_state, std::size_t lane) {
    for (const std::size_t child : {0, 1}) {
      const Node& node = tree.nodes[split.left + child];
      if (!node.is_leaf()) continue;
      for (std::size_t state = 0; state < kStates; ++state) of_state[state].product[child].at[lane] *= node.value;
    }
  }

  std::vector<std::int32_t> slot_of_;   // [n_features], -1 between trees
  std::vector<std::int32_t> parent_;    // [n_nodes]
  std::vector<std::size_t> n_on_path_;  // [n_nodes]
  std::vector<double> z_;               // [n_nodes] z_j of the feature that led to the node
};

void check_is_explained(const Model& model) {
  if (has_linear_parts(model))
    throw InputError(
        "the model cannot be explained: it has linear trees, for which there are no SHAP values; podere model names "
        "the gain of each feature");
  bool has_splits = false;
  for (const Tree& tree : model.trees) {
    for (const Node& node : tree.nodes) {
      if (node.cover > 0) return;
      has_splits = has_splits || !node.is_leaf();
    }
  }
  if (has_splits) throw InputError("the model cannot be explained: its nodes have no covers (sums of hessians)");
}

}  // namespace

std::vector<double> shap_bias(const Model& model) {
  std::vector<double> bias = model.base_margin;
  for (std::size_t t = 0; t < model.trees.size(); ++t) bias[t % bias.size()] += expected_value(model.trees[t]);
  return bias;
}

void shap_values(const Model& model, std::span<const std::span<const float>> features, std::size_t begin,
                 std::size_t end, std::span<double> values) {
  check_is_explained(model);
  const std::size_t n_features = features.size();
  const std::size_t n_outputs = model.n_outputs();
  const std::size_t stride = n_outputs * (n_features + 1);
  const std::vector<double> bias = shap_bias(model);
  std::vector<float> rows((end - begin) * n_features);  // row by row
  for (std::size_t i = begin; i < end; ++i) {
    for (std::size_t j = 0; j < n_features; ++j) rows[(i - begin) * n_features + j] = features[j][i];
  }
  std::ranges::fill(values, 0.0);
  for (std::size_t i = 0; i < end - begin; ++i) {
    for (std::size_t k = 0; k < n_outputs; ++k) values[i * stride + k * (n_features + 1) + n_features] = bias[k];
  }
  ShapTreeBuilder builder(n_features);
  ShapScratch scratch;
  for (std::size_t t = 0; t < model.trees.size(); ++t) {
    const Tree& tree = model.trees[t];
    const ShapTree ready = builder.build(tree);
    scratch.fit(ready);
    double* target = values.data() + t % n_outputs * (n_features + 1);
    for (const float* row = rows.data(); row != rows.data() + rows.size(); row += n_features, target += stride) {
      for (std::size_t s = 0; s < ready.splits.size(); ++s) {
        const Node& node = tree.nodes[ready.splits[s].node];
        scratch.goes_left[s] = goes_left(tree, node, row[node.feature]) ? 1 : 0;
      }
      add_shap(ready, scratch, {target, n_features});
    }
  }
}

std::vector<double> shap_values(const Model& model, const table::Table& table, int n_threads) {
  const auto features = table::feature_columns(model.schema, table);
  const std::size_t stride = model.n_outputs() * (features.size() + 1);
  std::vector<double> values(table.n_rows() * stride);
  parallel_for_slices(n_threads, table.n_rows(), kRowsPerTask, [&](std::size_t begin, std::size_t end, int) {
    shap_values(model, features, begin, end, std::span(values).subspan(begin * stride, (end - begin) * stride));
  });
  return values;
}

}  // namespace podere::tree
