// Trees laid out so that many rows walk down them at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "podere/tree/model.h"

namespace podere::tree {

/// Values of up to kRows rows as the trees read them: keys that are larger for larger values, in two planes a feature.
/// In one, missing values lie below all thresholds; the other has all keys less by one, so that 0, the key of a missing
/// value, has become the largest.
class KeyTile {
 public:
  static constexpr std::size_t kRows = 128;

  explicit KeyTile(std::size_t n_features) : keys_(2 * n_features * kRows) {}
  /// `values` [at most kRows] of feature `feature`.
  void set(std::size_t feature, std::span<const float> values);
  const std::uint32_t* data() const { return keys_.data(); }

 private:
  std::vector<std::uint32_t> keys_;  // [n_features x 2 x kRows]
};

/// A node as rows read it: a row goes left where its key in `plane` is below the threshold. Leaves lead to themselves.
/// So there is nothing to branch on.
struct FlatNode {
  std::uint32_t threshold;
  std::uint16_t plane;  // of the tile
  std::uint16_t right;  // the left child is right - 1
};

struct FlatTree {
  static constexpr int kTopLevels = 4;  // of which all nodes are looked at

  std::vector<FlatNode> nodes;
  std::vector<float> values;
  /// The first levels as a heap: below place i come 2 i + 1 and 2 i + 2, below a leaf the leaf again.
  std::array<FlatNode, (1 << kTopLevels) - 1> top;
  int depth = 0;
};

/// Nothing for a tree that splits by categories, has linear parts, or too many nodes or features for 16 bits.
std::optional<FlatTree> flatten(const Tree& tree);

/// target[i] += the value of row i's leaf for the first `n` rows of the tile.
void add_leaf_values(const FlatTree& tree, const KeyTile& tile, std::size_t n, float* target);

}  // namespace podere::tree
