// A parameter server: it has a shard of the weights and takes the steps of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "podere/comm/messages.h"
#include "podere/neural/descent.h"
#include "podere/neural/options.h"
#include "podere/neural/shard_message.h"

namespace podere::neural {

/// Gradients by staleness: entry i of i, the last of as many and more.
using StalenessCounts = std::vector<std::uint64_t>;
inline constexpr std::size_t kStalenessCounts = 64;

/// Answers workers: each sends a gradient and waits for weights before it sends the next one.
class ShardServer {
 public:
  /// All outlive this. `workers` are the ranks of those that have rows; `weights` are those of all shards.
  ShardServer(const Options& options, Shard shard, std::span<float> weights, Descent& descent,
              const comm::Messages& messages, const std::vector<int>& workers);

  /// A round of `n_gradients` gradients, `version` of them before it: returns when it has sent all workers that it is
  /// over, and each has sent its last.
  ///
  /// Asynchronous: each gradient is a step at once. A worker gets the weights after its own, unless it is
  /// options.staleness gradients ahead of the slowest worker; then it waits for that one.
  /// Synchronous (staleness 0): the mean of one gradient from each worker is a step, the last of which may be beyond
  /// n_gradients.
  ///
  /// Workers wait for a server: one that fails ends its process, so that the group ends and is started anew.
  void serve(std::uint64_t version, std::size_t n_gradients) noexcept;

  /// Of all gradients so far: how many others were applied between reading the weights and each.
  const StalenessCounts& staleness() const { return staleness_; }

 private:
  struct Worker {
    Worker(int worker_rank, std::size_t n) : rank(worker_rank), gradient(n), weights(n) {}
    int rank;
    ShardMessage gradient;
    ShardMessage weights;
    comm::Transfer sending;
    std::size_t n_gradients = 0;  // in this round
    bool has_gradient = false;    // that is not part of a step yet
    bool is_waiting = false;      // for weights
    bool has_left = false;
  };

  void receive_from(std::size_t w);
  void take(Worker& worker);
  /// A step by the gradients of all workers that are here, once there are as many.
  void step_together();
  void step(std::size_t n_gradients);
  bool may_continue(const Worker& worker) const;
  void answer(std::size_t w);
  bool is_synchronous() const { return options_.staleness == 0; }

  const Options& options_;
  Shard shard_;
  std::span<float> weights_;
  Descent& descent_;
  const comm::Messages& messages_;
  std::vector<Worker> workers_;
  std::vector<comm::Transfer> receiving_;  // by worker
  std::vector<double> gradient_;
  std::uint64_t version_ = 0;
  std::size_t n_left_ = 0;  // gradients of this round
  std::size_t next_ = 0;    // the worker to look at first
  StalenessCounts staleness_;
};

}  // namespace podere::neural
