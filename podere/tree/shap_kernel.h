// The loop of TreeSHAP that is tuned: one row through one tree, at several points of a quadrature at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace podere::tree {

/// Points of the quadrature that are looked at together, and numbers at them.
inline constexpr std::size_t kPoints = 4;
struct alignas(kPoints * sizeof(double)) Points {
  std::array<double, kPoints> at{};
};

/// What a split does to a row, which depends on the row only through one of three states.
enum ShapState : std::uint8_t {
  kAstray,  ///< an earlier split on the same feature sends the row elsewhere than to this split
  kLeft,    ///< none does, and this one sends it to the left
  kRight,
};
inline constexpr std::size_t kStates = 3;

/// Of each child: its product over paths, relative to that of the split (a leaf's value included), and what the sum
/// over the leaves below it counts in the value of the feature.
struct ShapFactors {
  std::array<Points, 2> product;
  std::array<Points, 2> count;
};

struct ShapSplit {
  std::uint32_t node = 0;
  std::uint32_t left = 0;  ///< the right child is left + 1
  std::uint32_t same = 0;  ///< the lowest node at or above `node` to which a split on the same feature led; 0: none
  std::uint32_t slot = 0;  ///< of the feature, among those of the tree
};

/// The splits of a tree, parents first, and their factors [n_groups x n_splits x kStates].
struct ShapTree {
  std::vector<ShapSplit> splits;
  std::vector<ShapFactors> factors;
  std::vector<std::int32_t> features;  ///< of each slot
  std::size_t n_nodes = 0;
  std::size_t n_groups = 0;  ///< of kPoints points each
};

/// Room for add_shap, to be used again for the next row.
struct ShapScratch {
  std::vector<std::uint8_t> goes_left;  ///< [n_splits], set by the caller
  std::vector<std::uint8_t> states;     ///< [n_splits]
  std::vector<std::uint8_t>
      is_on_way;              ///< [n_nodes], whether all splits on the feature that led here send the row here
  std::vector<Points> sums;   ///< [n_nodes]
  std::vector<Points> slots;  ///< [n_slots]
  void fit(const ShapTree& tree);
};

/// Adds the SHAP values of a row, for which `scratch.goes_left` is set, to `values` [n_features].
void add_shap(const ShapTree& tree, ShapScratch& scratch, std::span<double> values);

}  // namespace podere::tree
