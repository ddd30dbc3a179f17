#include "podere/tree/grow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <queue>

#include "podere/base/hash.h"
#include "podere/tree/finish_tree.h"
#include "podere/tree/grow_node.h"
#include "podere/tree/monotone.h"
#include "podere/tree/partition.h"
#include "podere/tree/split_kernel.h"
#include "podere/tree/streams.h"

namespace podere::tree {
namespace {

/// One node, or two siblings, to be split next. Only the smaller sibling's histogram is built; the other's is the
/// parent's less that.
struct Family {
  std::size_t smaller;
  std::size_t larger;  // == smaller for the root
};

class Grower {
 public:
  Grower(const GrowContext& context, std::uint64_t tree_number, const Gradients& gradients, std::size_t output,
         BinnedRows& binned, std::span<std::uint32_t> rows, std::span<std::uint32_t> scratch)
      : context_(context),
        options_(context.options),
        gradients_(gradients),
        output_(output),
        quantization_(choose_quantization(gradients, context.n_global_rows)),
        rule_{.g_unit = quantization_.g_unit,
              .h_unit = quantization_.h_unit,
              .lambda = options_.lambda,
              .min_child_weight = options_.min_child_weight},
        binned_(binned),
        rows_(rows),
        scratch_(scratch) {
    context.memory.clear();
    draw_columns(tree_number);
    plant_root(tree_number);
    if (has_categories()) {
      rule_.noise = gradient_noise(gradients, output, rows_, context.n_global_rows, context.comm, context.n_threads);
    }
  }

  Tree grow(std::span<float> margins) {
    options_.best_first ? grow_best_first() : grow_levels();
    const GrownTree grown{nodes_, rows_, binned_};
    Tree tree = finish_tree(context_, grown, gradients_, output_);
    if (context_.refit_leaves) context_.refit_leaves(leaves_of(grown), rows_, margins, tree);
    if (!context_.constraints.monotone.empty()) make_monotone(context_.constraints.monotone, tree);
    add_to_margins(grown, tree, context_.is_followed, context_.n_threads, margins);
    return tree;
  }

 private:
  void grow_levels() {
    std::vector<Family> families{{0, 0}};
    while (!families.empty()) {
      build_smaller_siblings(families);
      find_splits(families);
      const std::vector<std::size_t> to_split = choose_splits(families);
      part_rows(to_split);
      families = next_families(to_split);
    }
  }

  /// Splits the leaf with the highest gain, of equal ones the first, as long as there may be more leaves.
  void grow_best_first() {
    const auto comes_later = [&](std::size_t a, std::size_t b) {
      return nodes_[a].split.gain != nodes_[b].split.gain ? nodes_[a].split.gain < nodes_[b].split.gain : a > b;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(comes_later)> candidates(comes_later);
    std::vector<Family> families{{0, 0}};
    for (int n_leaves = 1; n_leaves < options_.max_leaves; ++n_leaves) {
      if (!families.empty()) {
        build_smaller_siblings(families);
        find_splits(families);
        for (const std::size_t n : worth_splitting(families)) candidates.push(n);
      }
      if (candidates.empty()) return;
      const std::size_t best = candidates.top();
      candidates.pop();
      part_rows({best});
      families = next_families({best});
    }
    for (; !candidates.empty(); candidates.pop()) nodes_[candidates.top()].split = {};
  }

  /// Draws features without replacement: those with the lowest hashes.
  void draw_columns(std::uint64_t tree_number) {
    const std::size_t n_features = binned_.n_features();
    const auto n_drawn =
        static_cast<std::size_t>(std::max(1.0, std::ceil(options_.column_subsample * static_cast<double>(n_features))));
    std::vector<std::size_t> order(n_features);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const auto hash = [&](std::size_t j) {
        return hash64(options_.seed, kColumnStream, tree_number * n_features + j);
      };
      return hash(a) < hash(b);
    });
    column_is_used_.assign(n_features, 0);
    panel_is_used_.assign(binned_.n_panels(), 0);
    for (const std::size_t j : std::span(order).first(std::min(n_drawn, n_features))) {
      column_is_used_[j] = 1;
      panel_is_used_[binned_.panel_of(j)] = 1;
    }
  }

  void plant_root(std::uint64_t tree_number) {
    GrowNode root{.rows = {0, rows_.size()}};
    root.total = quantize_gradients(gradients_.of_output(output_), rows_, context_.table_rows, quantization_,
                                    hash64(options_.seed, kRoundingStream, tree_number), context_.n_threads, binned_);
    std::vector<std::int64_t> sums = {root.total, static_cast<std::int64_t>(rows_.size())};
    context_.comm.all_reduce(std::span(sums), comm::Reduction::kSum);
    root.total = sums[0];
    root.n_global_rows = static_cast<std::uint64_t>(sums[1]);
    nodes_.push_back(root);
  }

  bool has_categories() const {
    for (std::size_t j = 0; j < binned_.n_features(); ++j) {
      if (binned_.cuts(j).is_categorical) return true;
    }
    return false;
  }

  void build_smaller_siblings(const std::vector<Family>& families) {
    std::vector<NodeRows> smaller;
    for (const Family& family : families) {
      const GrowNode& node = nodes_[family.smaller];
      smaller.push_back({rows_of(node), node.n_global_rows});
    }
    // Kept until the tree is done: larger siblings further down use the same memory.
    const std::span<std::int64_t> cells =
        build_histograms(binned_, context_.layout, smaller, panel_is_used_, quantization_, context_.comm,
                         context_.n_threads, context_.memory);
    const std::size_t width = context_.layout.width(context_.comm.rank());
    for (std::size_t f = 0; f < families.size(); ++f) {
      nodes_[families[f].smaller].cells = cells.subspan(f * width, width);
    }
  }

  /// Finds each node's best split by this rank's features, then the best over all ranks.
  void find_splits(const std::vector<Family>& families) {
    const Slice own = context_.layout.features_of(context_.comm.rank());
    const std::size_t n_own = own.end - own.begin;
    std::vector<Split> smaller_best(families.size() * n_own);
    std::vector<Split> larger_best(families.size() * n_own);
    constexpr std::size_t kGrain = 4;
    parallel_for_slices(context_.n_threads, families.size() * n_own, kGrain,
                        [&](std::size_t begin, std::size_t end, int) {
                          for (std::size_t i = begin; i < end; ++i) {
                            const std::size_t feature = own.begin + i % n_own;
                            const GrowNode& smaller = nodes_[families[i / n_own].smaller];
                            const GrowNode& larger = nodes_[families[i / n_own].larger];
                            if (!may_split(smaller, feature)) continue;  // nor may its sibling
                            smaller_best[i] = best_split_of(smaller, feature);
                            if (&larger == &smaller) continue;
                            subtract_cells(cells_of(larger, feature), cells_of(smaller, feature));
                            larger_best[i] = best_split_of(larger, feature);
                          }
                        });

    std::vector<Split> best(2 * families.size());
    for (std::size_t i = 0; i < smaller_best.size(); ++i) {
      const std::size_t f = i / n_own;
      if (is_better(smaller_best[i], best[2 * f])) best[2 * f] = smaller_best[i];
      if (is_better(larger_best[i], best[2 * f + 1])) best[2 * f + 1] = larger_best[i];
    }
    const std::vector<Split> of_ranks = gather_splits(best);
    for (std::size_t i = 0; i < of_ranks.size(); ++i) {
      const Family& family = families[i % best.size() / 2];
      GrowNode& node = nodes_[i % 2 == 0 ? family.smaller : family.larger];
      if (is_better(of_ranks[i], node.split)) node.split = of_ranks[i];
    }
  }

  /// The splits of all ranks that own features, of many ranks only a few; those of each in the order of its `own`.
  std::vector<Split> gather_splits(std::span<const Split> own) const {
    const auto n_bytes_of = [&](int rank) { return context_.layout.width(rank) > 0 ? own.size_bytes() : 0; };
    std::vector<std::size_t> counts;
    for (int rank = 0; rank < context_.comm.size(); ++rank) counts.push_back(n_bytes_of(rank));
    const std::vector<std::byte> gathered =
        context_.comm.all_gather_v(std::as_bytes(own).first(n_bytes_of(context_.comm.rank())), counts);
    std::vector<Split> splits(gathered.size() / sizeof(Split));
    std::memcpy(static_cast<void*>(splits.data()), gathered.data(), gathered.size());
    return splits;
  }

  /// Whether a split on `feature` is allowed here. Siblings are alike, and what is not allowed is not below.
  bool may_split(const GrowNode& node, std::size_t feature) const {
    if (column_is_used_[feature] == 0) return false;
    const OpenSets open = sets_below(context_.constraints, node.open_sets, feature);
    return !open || !open->empty();
  }

  std::span<std::int64_t> cells_of(const GrowNode& node, std::size_t feature) const {
    return node.cells.subspan(context_.layout.offset(feature),
                              static_cast<std::size_t>(binned_.cuts(feature).n_bins()));
  }

  Split best_split_of(const GrowNode& node, std::size_t feature) const {
    const FeatureCuts& cuts = binned_.cuts(feature);
    const auto id = static_cast<std::int32_t>(feature);
    const int sign = context_.constraints.sign(feature);
    if (sign == 0 && node.bounds == ValueBounds())
      return best_split(cells_of(node, feature), node.total, cuts, id, rule_);
    return best_bounded_split(cells_of(node, feature), node.total, cuts, id, rule_, sign, node.bounds);
  }

  /// Those of the families whose split gains enough, in tree order; the others lose it and become leaves.
  std::vector<std::size_t> worth_splitting(const std::vector<Family>& families) {
    std::vector<std::size_t> candidates;
    for (const Family& family : families) {
      for (const std::size_t n : {family.smaller, family.larger}) {
        Split& split = nodes_[n].split;
        if (split.is_found() && split.gain > options_.min_gain) {
          if (candidates.empty() || candidates.back() != n) candidates.push_back(n);
        } else {
          split = {};
        }
      }
    }
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  }

  /// The nodes to split, in tree order. Where there may not be so many leaves, the splits with the highest gains are
  /// chosen.
  std::vector<std::size_t> choose_splits(const std::vector<Family>& families) {
    std::vector<std::size_t> candidates = worth_splitting(families);
    const std::size_t n_leaves = (nodes_.size() + 1) / 2;
    const std::size_t room =
        options_.max_leaves == 0 ? candidates.size() : static_cast<std::size_t>(options_.max_leaves) - n_leaves;
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](std::size_t a, std::size_t b) { return nodes_[a].split.gain > nodes_[b].split.gain; });
    for (std::size_t i = room; i < candidates.size(); ++i) nodes_[candidates[i]].split = {};
    candidates.resize(std::min(room, candidates.size()));
    std::sort(candidates.begin(), candidates.end());
    return candidates;
  }

  /// Makes the children of the nodes in `to_split`.
  void part_rows(const std::vector<std::size_t>& to_split) {
    std::vector<Parting> partings;
    for (const std::size_t n : to_split) partings.push_back({nodes_[n].rows, nodes_[n].split});
    const std::vector<std::size_t> n_left = partition_rows(binned_, partings, context_.n_threads, rows_, scratch_);
    std::vector<std::uint64_t> n_global_left(n_left.begin(), n_left.end());
    const bool may_split_again =
        std::ranges::any_of(to_split, [&](std::size_t n) { return nodes_[n].depth + 1 < options_.depth; });
    if (may_split_again) context_.comm.all_reduce(std::span(n_global_left), comm::Reduction::kSum);
    for (std::size_t i = 0; i < to_split.size(); ++i) {
      GrowNode& parent = nodes_[to_split[i]];
      parent.left = nodes_.size();
      const std::size_t middle = parent.rows.begin + n_left[i];
      GrowNode left{.rows = {parent.rows.begin, middle},
                    .total = parent.split.left_cell,
                    .n_global_rows = n_global_left[i],  // of this rank alone where no child may be split
                    .depth = parent.depth + 1};
      GrowNode right{.rows = {middle, parent.rows.end},
                     .total = parent.total - left.total,
                     .n_global_rows = parent.n_global_rows - left.n_global_rows,
                     .depth = parent.depth + 1};
      constrain(parent, left, right);
      nodes_.push_back(std::move(left));
      nodes_.push_back(std::move(right));
    }
  }

  void constrain(const GrowNode& parent, GrowNode& left, GrowNode& right) const {
    const auto feature = static_cast<std::size_t>(parent.split.feature);
    left.open_sets = right.open_sets = sets_below(context_.constraints, parent.open_sets, feature);
    std::tie(left.bounds, right.bounds) =
        bounds_below(parent.bounds, context_.constraints.sign(feature), bounded_value(left.total, parent.bounds, rule_),
                     bounded_value(right.total, parent.bounds, rule_));
  }

  /// The children of the nodes that were split, but for those too deep to be split themselves.
  std::vector<Family> next_families(const std::vector<std::size_t>& were_split) {
    std::vector<Family> next;
    for (const std::size_t n : were_split) {
      const std::size_t left = nodes_[n].left;
      const std::size_t right = left + 1;
      if (nodes_[left].depth >= options_.depth) continue;
      const bool left_is_smaller = nodes_[left].n_global_rows <= nodes_[right].n_global_rows;
      next.push_back({left_is_smaller ? left : right, left_is_smaller ? right : left});
      nodes_[next.back().larger].cells = nodes_[n].cells;
    }
    return next;
  }

  std::span<const std::uint32_t> rows_of(const GrowNode& node) const {
    return std::span<const std::uint32_t>(rows_).subspan(node.rows.begin, node.rows.end - node.rows.begin);
  }

  const GrowContext& context_;
  const Options& options_;
  const Gradients& gradients_;
  std::size_t output_;
  Quantization quantization_;
  SplitRule rule_;
  BinnedRows& binned_;
  std::span<std::uint32_t> rows_;
  std::span<std::uint32_t> scratch_;
  std::vector<std::uint8_t> column_is_used_;  // [n_features]
  std::vector<std::uint8_t> panel_is_used_;   // [n_panels]
  std::vector<GrowNode> nodes_;
};

}  // namespace

Tree grow_tree(const GrowContext& context, std::uint64_t tree_number, const Gradients& gradients, std::size_t output,
               BinnedRows& binned, std::span<std::uint32_t> rows, std::span<std::uint32_t> scratch,
               std::span<float> margins) {
  return Grower(context, tree_number, gradients, output, binned, rows, scratch).grow(margins);
}

}  // namespace podere::tree
