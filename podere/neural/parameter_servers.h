// Stochastic gradient descent by workers that have the rows and servers that have the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/neural/batch_gradient.h"
#include "podere/neural/options.h"
#include "podere/neural/shard_server.h"
#include "podere/neural/solver.h"

namespace podere::neural {

/// How many of `n_ranks` are workers: the first ones. The others are options.servers servers. Throws InputError if
/// there would be none.
int count_workers(const Options& options, int n_ranks);

/// The solver where options.servers > 0. Arguments as of make_solver; servers have no rows. Each gradient of a batch
/// counts as a step; a step() is a round of them, after which all ranks have the weights. Two runs alike give two
/// models unless workers are in step: the order in which gradients come is not fixed. Collective.
std::unique_ptr<Solver> make_parameter_servers(const Layout& layout, const Options& options, TrainingRows& rows,
                                               std::vector<std::uint16_t> block_rows, double weight_sum,
                                               std::vector<float> weights, const comm::Communicator& comm,
                                               int n_threads);

}  // namespace podere::neural
