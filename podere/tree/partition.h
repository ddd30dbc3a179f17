// Sorting the rows of nodes into their children.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/base/parallel.h"
#include "podere/tree/binned.h"
#include "podere/tree/split_kernel.h"

namespace podere::tree {

/// goes_left[bin] is 1 where rows with that bin go left.
using RouteTable = std::array<std::uint8_t, 256>;
RouteTable route_table(const Split& split, const FeatureCuts& cuts);

/// A node to be parted: the piece of the row list that holds its rows, and its split.
struct Parting {
  Slice rows;
  Split split;
};

/// Reorders `rows` so that in each piece the rows that go left come first; order is kept on both sides. Returns how
/// many go left, for each parting. `scratch` is as long as `rows`. Local.
std::vector<std::size_t> partition_rows(const BinnedRows& binned, std::span<const Parting> partings, int n_threads,
                                        std::span<std::uint32_t> rows, std::span<std::uint32_t> scratch);

}  // namespace podere::tree
