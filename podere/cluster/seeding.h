// Where k-means begins.
#pragma once

#include <cstdint>

#include "podere/cluster/lloyd.h"

namespace podere::cluster {

/// Centroids on `n` of the rows, far from one another: k-means|| finds about 10 n candidates in five passes over the
/// rows, each with a probability that grows with its distance from those found before, and k-means++ chooses among them
/// by how many rows they stand for. The same on any number of ranks: what is drawn for a row hangs on its number.
/// Collective. Throws InputError, on all ranks, if fewer than `n` rows are different from each other.
/// Source: B. Bahmani et al., "Scalable k-means++", VLDB 2012.
Centroids find_start(const ScaledRows& rows, std::size_t n, std::uint64_t seed, const comm::Communicator& comm,
                     int n_threads);

}  // namespace podere::cluster
