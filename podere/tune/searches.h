// Each search alone.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "podere/tune/search.h"

namespace podere::tune {

inline constexpr std::uint64_t kMostGridPoints = 1'000'000;

/// All settings, as nested loops over the parameters would have them, the last one fastest. Conditional parameters are
/// looped over only where they are there, so that no setting occurs twice. Throws InputError for ranges of real numbers
/// without step, and for more than kMostGridPoints settings.
std::unique_ptr<Search> grid_search(const Space& space);

/// A point of the unit cube, by hash of seed, trial and dimension.
std::vector<double> random_point(std::uint64_t seed, std::size_t trial, std::size_t n_dimensions);

/// Uniform settings.
std::unique_ptr<Search> random_search(const Space& space, std::uint64_t seed);

/// The points of a Sobol sequence, which fill the space more evenly than random ones (sobol_sequence.h), shifted by a
/// hash of the seed. Throws InputError for more dimensions than the sequence has.
std::unique_ptr<Search> sobol_search(const Space& space, std::uint64_t seed);

/// Settings like the good ones and unlike the others: the tree-structured Parzen estimator. After 10 random trials, a
/// density of the best tenth and a density of the rest are estimated (parzen.h). Of 24 candidates drawn from the first,
/// that one is suggested at which it is largest in proportion to the second.
///
/// Which observations are the best: those of the largest budget come first, then those of lower loss. Failed ones are
/// never among them. So a trial under way that is passed as failed keeps others from its setting.
/// Conditional parameters: an observation without one has the prior in that dimension; a candidate without one is
/// compared without that dimension, which is the marginal density. So one density serves all branches of a space.
///
/// Source: Bergstra et al., "Algorithms for Hyper-Parameter Optimization", NeurIPS 2011, section 4; Watanabe,
/// "Tree-structured Parzen estimator", arXiv:2304.11127; the kernels and constants are those of
/// TPESampler of Optuna 5.
std::unique_ptr<Search> tpe_search(const Space& space, std::uint64_t seed);

}  // namespace podere::tune
