// Leaf values of the quantile objective.
#pragma once

#include "podere/tree/grow.h"

namespace podere::tree {

/// Gives each leaf learning_rate times the weighted quantile of label - margin of its rows, the value that makes its
/// pinball loss least; 0 where the weights of its rows do not sum to more than zero. Its quantiles are exact
/// (weighted_quantile.h), lambda has no part in them. `options` and `labels` must outlive what is returned.
/// Source: J. H. Friedman, "Greedy function approximation", Annals of Statistics 29 (2001), algorithm 3.
RefitLeaves quantile_leaves(const Options& options, const LabeledRows& labels, std::uint64_t n_global_rows,
                            const comm::Communicator& comm, int n_threads);

}  // namespace podere::tree
