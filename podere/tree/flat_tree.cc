#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/tree/flat_tree.cc"
#include "podere/tree/flat_tree.h"

#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace podere::tree::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kRowsAtOnce = 16;  // that walk down a tree side by side, none waiting for another's memory
using Lanes = hn::CappedTag<std::uint32_t, kRowsAtOnce>;

/// The nodes that rows reach from `place` of the top, kLevels further down.
template <int kLevels>
HWY_INLINE hn::Vec<Lanes> Descend(const FlatTree& tree, std::size_t place, const std::uint32_t* keys) {
  const Lanes lanes;
  const FlatNode& node = tree.top[place];
  const auto goes_left = hn::Lt(hn::LoadU(lanes, keys + node.plane * KeyTile::kRows), hn::Set(lanes, node.threshold));
  if constexpr (kLevels == 1) {
    return hn::Add(hn::Set(lanes, node.right), hn::VecFromMask(lanes, goes_left));  // a mask is -1
  } else {
    return hn::IfThenElse(goes_left, Descend<kLevels - 1>(tree, 2 * place + 1, keys),
                          Descend<kLevels - 1>(tree, 2 * place + 2, keys));
  }
}

/// Rows beyond `n` walk down with the others unseen.
void AddLeafValues(const FlatTree& tree, const std::uint32_t* tile, std::size_t n, float* target) {
  constexpr int kStepsBetweenLooks = 4;
  const FlatNode* const nodes = tree.nodes.data();
  for (std::size_t first = 0; first < n; first += kRowsAtOnce) {
    const std::uint32_t* const keys = tile + first;
    std::uint32_t at[kRowsAtOnce];
    for (std::size_t i = 0; i < kRowsAtOnce; i += hn::Lanes(Lanes())) {
      hn::StoreU(Descend<FlatTree::kTopLevels>(tree, 0, keys + i), Lanes(), at + i);
    }
    for (int level = FlatTree::kTopLevels; level < tree.depth; ++level) {
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
        const FlatNode& node = nodes[at[i]];
        at[i] = node.right - (keys[node.plane * KeyTile::kRows + i] < node.threshold ? 1U : 0U);
      }
      if (level % kStepsBetweenLooks != kStepsBetweenLooks - 1) continue;
      std::uint32_t moving = 0;
      for (const std::uint32_t node : at) moving |= nodes[node].right ^ node;
      if (moving == 0) break;
    }
    for (std::size_t i = 0; i < std::min(kRowsAtOnce, n - first); ++i) target[first + i] += tree.values[at[i]];
  }
}

}  // namespace podere::tree::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

namespace podere::tree {

HWY_EXPORT(AddLeafValues);

namespace {

/// Larger for larger values, 0 for a missing one, at most 0xff800000. -0 is 0.
std::uint32_t ordered_key(float value) {
  if (value != value) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

}  // namespace

void KeyTile::set(std::size_t feature, std::span<const float> values) {
  std::uint32_t* const missing_left = keys_.data() + 2 * feature * kRows;
  std::uint32_t* const missing_right = missing_left + kRows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    missing_left[i] = ordered_key(values[i]);
    missing_right[i] = missing_left[i] - 1;
  }
}

std::optional<FlatTree> flatten(const Tree& tree) {
  constexpr std::size_t kMaxNodes = std::size_t{1} << 16;
  constexpr std::int32_t kMaxFeature = (1 << 15) - 1;  // two planes each
  if (!tree.category_sets.empty() || !tree.linear_parts.empty() || tree.nodes.size() > kMaxNodes) return {};
  FlatTree flat;
  std::vector<int> depths(tree.nodes.size());
  for (std::size_t n = 0; n < tree.nodes.size(); ++n) {
    const Node& node = tree.nodes[n];
    flat.values.push_back(node.value);
    if (node.is_leaf()) {
      flat.nodes.push_back({0, 0, static_cast<std::uint16_t>(n)});
      continue;
    }
    if (node.feature > kMaxFeature) return {};
    const auto left = static_cast<std::size_t>(node.left);
    depths[left] = depths[left + 1] = depths[n] + 1;
    flat.depth = std::max(flat.depth, depths[left]);
    const std::uint32_t missing_right = node.missing_left ? 0 : 1;
    flat.nodes.push_back({ordered_key(node.threshold) - missing_right,
                          static_cast<std::uint16_t>(2 * static_cast<std::uint32_t>(node.feature) + missing_right),
                          static_cast<std::uint16_t>(left + 1)});
  }
  std::array<std::size_t, std::tuple_size_v<decltype(flat.top)>> numbers{};
  for (std::size_t place = 0; place < numbers.size(); ++place) {
    const std::size_t n = numbers[place];
    flat.top[place] = flat.nodes[n];
    if (2 * place + 2 >= numbers.size()) continue;
    numbers[2 * place + 2] = flat.nodes[n].right;
    numbers[2 * place + 1] = tree.nodes[n].is_leaf() ? n : flat.nodes[n].right - 1U;
  }
  return flat;
}

void add_leaf_values(const FlatTree& tree, const KeyTile& tile, std::size_t n, float* target) {
  HWY_DYNAMIC_DISPATCH(AddLeafValues)(tree, tile.data(), n, target);
}

}  // namespace podere::tree
#endif
