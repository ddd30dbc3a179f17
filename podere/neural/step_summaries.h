// What a network shows in TensorBoard while it is trained.
#pragma once

#include <cstddef>

#include "podere/algorithm/summaries.h"
#include "podere/neural/hooks.h"

namespace podere::neural {

/// "loss", its mean over the steps since the last time, and "learning_rate", steps_apart() or a twentieth of an epoch
/// apart; after each epoch the measures of validation and histograms of each layer's weights and biases, of no more
/// epochs than TensorBoard shows; at the first step the options and the graph of the network.
class StepSummaries {
 public:
  explicit StepSummaries(algorithm::Summaries& summaries) : summaries_(summaries) {}
  void note(const AfterStep& after);

 private:
  void begin(const AfterStep& after);
  void note_epoch(const AfterStep& after);

  algorithm::Summaries& summaries_;
  bool has_begun_ = false;
  double loss_ = 0;  // summed over the steps since they were written
  double n_steps_ = 0;
  std::size_t epochs_apart_ = 1;  // of histograms
};

}  // namespace podere::neural
