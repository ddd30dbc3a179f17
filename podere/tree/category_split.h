// The best split of one node by one feature of categories.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/tree/cuts.h"
#include "podere/tree/split_kernel.h"

namespace podere::tree {

/// As best_split, for a feature of categories. The node's categories are sorted by G / H, and the best split of that
/// order is used: of all ways to part a set in two, one such is the best (Fisher, "On Grouping for Maximum
/// Homogeneity", 1958).
///
/// Such a fit comes by chance too. Of m categories that say nothing, with G of variance noise * H, each goes to the
/// side of its sign, which gains noise * (2 / pi) * (m - 1): the mean of |x| is sqrt(2 / pi) for a normal x, and the
/// sum of all G is given. That is subtracted from the gain, with (sum of sqrt(H))^2 / (sum of H) for m, which is m
/// where all weigh the same.
///
/// The bin of all other categories goes left, so that the set of those that go right names each, and categories that
/// are not in it go where the trained ones went. Otherwise the side with fewer categories goes right. Missing values
/// that the node does not have go left.
Split best_category_split(std::span<const std::int64_t> cells, std::int64_t total, const FeatureCuts& cuts,
                          std::int32_t feature, const SplitRule& rule);

/// The codes, rising, that go right.
std::vector<std::int32_t> category_set(const Split& split, const FeatureCuts& cuts);

}  // namespace podere::tree
