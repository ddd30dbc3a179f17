// Scores as probabilities.
#pragma once

#include <cstddef>
#include <vector>

namespace podere::algorithm {

/// e^score of each of a row's outputs over their sum: `scores` [n_outputs x n_rows], output by output, become
/// probabilities. The same bits on all machines.
std::vector<float> softmax(std::vector<float> scores, std::size_t n_outputs);

}  // namespace podere::algorithm
