// What training tells TensorBoard on its way.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/io/event_file.h"
#include "podere/neural/hooks.h"
#include "podere/session/job.h"
#include "podere/session/train_job.h"

namespace podere::session {

/// With job.tensorboard, rank 0 writes into a file of that folder, which it makes once there is something to tell;
/// without, and on other ranks, nothing is done.
/// Steps that were lost with an executor are told again by the group that makes up for them. What cannot be written any
/// more, for want of room, is warned of once, and the run goes on.
class TensorboardSummaries {
 public:
  /// All outlive this. Collective. Throws InputError on all ranks if there can be no such folder.
  TensorboardSummaries(const TrainJob& job, const comm::Communicator& comm, Progress& progress);

  /// Of trees: the options first, then losses and AUC of rounds job.summary_steps apart, or of all. Of phases other
  /// than "train" nothing.
  void tell_round(const ProgressStep& step);
  /// Of a network: "loss", its mean over the steps since the last time, and "learning_rate", job.summary_steps apart or
  /// a twentieth of an epoch; after each epoch the measures of validation and histograms of each layer's weights and
  /// biases, of no more epochs than TensorBoard shows; at the first step the options and the graph of the network.
  void tell_step(const neural::AfterStep& after);

 private:
  void write(const std::function<void(io::EventFile& file)>& tell);
  /// What other runs, or groups that were lost, told of later steps does not count any more.
  void begin(std::size_t n_steps);
  void begin_network(const neural::AfterStep& after);
  void tell_epoch(const neural::AfterStep& after);

  const TrainJob& job_;
  Progress& progress_;
  bool is_on_;
  std::optional<io::EventFile> file_;
  bool has_files_ = false;  // of others, in the folder
  bool has_begun_ = false;
  bool has_warned_ = false;
  double loss_ = 0;  // summed over the steps since they were told
  double n_steps_ = 0;
  std::size_t epochs_apart_ = 1;  // of histograms
};

}  // namespace podere::session
