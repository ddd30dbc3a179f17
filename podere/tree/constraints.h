// What may be split on below what, and which way predictions may go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "podere/table/table.h"
#include "podere/tree/options.h"

namespace podere::tree {

/// The constraints among the options, by feature.
struct Constraints {
  /// +1: predictions never fall where the feature rises, -1: never rise, 0: any [n_features]; empty: all are 0.
  std::vector<std::int8_t> monotone;
  /// The sets that hold each feature, rising [n_features]; a feature in no set that was given is alone in one of its
  /// own. Empty: any features may meet.
  std::vector<std::vector<std::uint32_t>> sets_of;

  int sign(std::size_t feature) const { return monotone.empty() ? 0 : monotone[feature]; }
};

/// Throws InputError if the text of a constraint is not of its form. What features there are is not looked at.
void check_constraints(const Options& options);

/// Throws InputError that names the first constraint which the features cannot keep.
Constraints resolve_constraints(const Options& options, const table::Schema& schema);

/// The sets that hold all features above a node, rising. Nothing: there are no features above, or no sets.
using OpenSets = std::optional<std::vector<std::uint32_t>>;

/// The open sets below a split on `feature` of a node that has `open`. A node with none of them may not be split so.
OpenSets sets_below(const Constraints& constraints, const OpenSets& open, std::size_t feature);

}  // namespace podere::tree
