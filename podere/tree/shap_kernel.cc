#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/shap_kernel.cc"
#include "podere/tree/shap_kernel.h"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

/// Down the tree: sums[node] becomes the product over the path, of a leaf times its value. Up: the sum over the leaves
/// below; each split then counts those of its children for its feature.
void AddGroup(const ShapSplit* splits, std::size_t n_splits, const ShapFactors* factors, const std::uint8_t* states,
              Points* sums, Points* slots) {
  sums[0].at.fill(1);
  for (std::size_t s = 0; s < n_splits; ++s) {
    const ShapFactors& factor = factors[s * kStates + states[s]];
    const Points above = sums[splits[s].node];
    Points left;
    Points right;
    for (std::size_t i = 0; i < kPoints; ++i) left.at[i] = above.at[i] * factor.product[0].at[i];
    for (std::size_t i = 0; i < kPoints; ++i) right.at[i] = above.at[i] * factor.product[1].at[i];
    sums[splits[s].left] = left;
    sums[splits[s].left + 1] = right;
  }
  for (std::size_t s = n_splits; s-- > 0;) {
    const ShapFactors& factor = factors[s * kStates + states[s]];
    const Points left = sums[splits[s].left];
    const Points right = sums[splits[s].left + 1];
    Points counted = slots[splits[s].slot];
    Points both;
    for (std::size_t i = 0; i < kPoints; ++i) {
      counted.at[i] += left.at[i] * factor.count[0].at[i] + right.at[i] * factor.count[1].at[i];
      both.at[i] = left.at[i] + right.at[i];
    }
    slots[splits[s].slot] = counted;
    sums[splits[s].node] = both;
  }
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

namespace podere::tree {
namespace {

HWY_EXPORT(AddGroup);

}  // namespace

void ShapScratch::fit(const ShapTree& tree) {
  goes_left.resize(tree.splits.size());
  states.resize(tree.splits.size());
  is_on_way.resize(tree.n_nodes);
  sums.resize(tree.n_nodes);
  slots.resize(tree.features.size());
}

void add_shap(const ShapTree& tree, ShapScratch& scratch, std::span<double> values) {
  const std::size_t n_splits = tree.splits.size();
  std::uint8_t* const is_on_way = scratch.is_on_way.data();
  is_on_way[0] = 1;
  for (std::size_t s = 0; s < n_splits; ++s) {
    const ShapSplit& split = tree.splits[s];
    const auto state = static_cast<std::uint8_t>(is_on_way[split.same] * (2 - scratch.goes_left[s]));
    scratch.states[s] = state;
    is_on_way[split.left] = state == kLeft;
    is_on_way[split.left + 1] = state == kRight;
  }
  std::ranges::fill(scratch.slots, Points{});
  for (std::size_t group = 0; group < tree.n_groups; ++group) {
    HWY_DYNAMIC_DISPATCH(AddGroup)
    (tree.splits.data(), n_splits, tree.factors.data() + group * n_splits * kStates, scratch.states.data(),
     scratch.sums.data(), scratch.slots.data());
  }
  for (std::size_t i = 0; i < tree.features.size(); ++i) {
    const auto& sum = scratch.slots[i].at;
    values[static_cast<std::size_t>(tree.features[i])] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

}  // namespace podere::tree
#endif
