// The weights of a network in training, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/neural/batch_gradient.h"
#include "podere/neural/batches.h"
#include "podere/neural/network.h"
#include "podere/neural/options.h"
#include "podere/neural/state.h"

namespace podere::neural {

/// What one step, or several at once, report.
struct StepReport {
  std::size_t n_steps = 1;
  double loss = 0;        ///< sum of weighted losses over the rows of the step, before it; of lbfgs after
  double weight = 0;      ///< what it is to be divided by for their mean
  bool is_finite = true;  ///< else the loss or the weights are not, and no more steps are possible
};

/// How workers and servers worked together, over all rounds; zeros if there was none. Empty where there are no servers.
struct ServersReport {
  std::vector<std::uint64_t> staleness;  ///< gradients by steps since their weights; the last: and more
  std::vector<double> steps_per_second;  ///< of each worker
  std::vector<double> wait_shares;       ///< of each worker: of its time, waiting for weights
};

/// Steps through epochs until all are done or nothing more is to be gained. All members but those that are const are
/// collective.
class Solver {
 public:
  virtual ~Solver() = default;
  /// One, or some where that is quicker, but `most`, or few more.
  virtual StepReport step(std::size_t most) = 0;
  /// Of an epoch.
  virtual std::size_t n_steps() const = 0;
  /// Whether more steps would change nothing.
  virtual bool has_converged() const = 0;
  /// Of the step to come; 0 where there is none.
  virtual double learning_rate() const = 0;
  virtual std::span<const float> weights() const = 0;
  virtual const ServersReport& servers_report() const;
  virtual void save(TrainState& state) const = 0;
  /// Inverse of save. Throws InputError if `state` is not of such a run. Local.
  virtual void load(const TrainState& state) = 0;
};

/// That of options.optimizer, from `weights`. Rows are `rows` with weights that sum to `weight_sum` over all ranks,
/// `block_rows` [row blocks of all ranks] of them in each row block. All but `weights` outlive this. Collective.
std::unique_ptr<Solver> make_solver(const Layout& layout, const Options& options, TrainingRows& rows,
                                    std::vector<std::uint16_t> block_rows, double weight_sum,
                                    std::vector<float> weights, const comm::Communicator& comm, int n_threads);

}  // namespace podere::neural
