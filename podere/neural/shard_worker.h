// A worker of parameter servers: it has rows and computes gradients of their batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"
#include "podere/comm/messages.h"
#include "podere/neural/batch_cursor.h"
#include "podere/neural/batch_gradient.h"
#include "podere/neural/descent.h"
#include "podere/neural/options.h"
#include "podere/neural/shard_message.h"

namespace podere::neural {

/// What a worker did.
struct Work {
  double loss = 0;              ///< sum of weighted losses over the rows of its batches, at the weights that each met
  double weight = 0;            ///< sum of what these are to be divided by for their mean
  std::uint64_t n_batches = 0;  ///< sent as gradients
  double seconds = 0;
  double wait_seconds = 0;  ///< of these for weights
  bool is_finite = true;    ///< else it left because its loss or gradient was not
  void add(const Work& other) {
    loss += other.loss;
    weight += other.weight;
    n_batches += other.n_batches;
    seconds += other.seconds;
    wait_seconds += other.wait_seconds;
    is_finite = is_finite && other.is_finite;
  }
};

/// Sends gradients to the servers of all shards and receives their weights.
class ShardWorker {
 public:
  /// All outlive this. `servers` [n] are the ranks that have `shards` [n]; `batches` are of this rank's rows alone,
  /// whose weight is `mean_weight` on average; `weights` [layout.size()] are its copy of them.
  ShardWorker(const Layout& layout, const Options& options, TrainingRows& rows, Batches batches, double mean_weight,
              std::span<float> weights, const comm::Messages& messages, std::vector<int> servers,
              std::span<const Shard> shards, int n_threads);

  /// A round from the weights as they are, after `version` steps: batch after batch until the first server says that it
  /// is over. Weights on the way from servers are waited for only once the next gradient is there, unless the run is
  /// synchronous; so each is of weights that lack the gradient just before it. What fails here is thrown once servers
  /// know that they need not wait; if they cannot be reached, this ends its process, as a server does.
  Work work(std::uint64_t version);
  /// Continues with the n-th of all batches.
  void go_to(std::size_t n) { batches_.go_to(n / batches_.batches().n_steps(), n % batches_.batches().n_steps()); }

 private:
  struct Server {
    Server(int server_rank, Shard its_shard)
        : rank(server_rank), shard(its_shard), gradient(shard.n), weights(shard.n) {}
    int rank;
    Shard shard;
    ShardMessage gradient;
    ShardMessage weights;
    comm::Transfer sending;
    comm::Transfer receiving;
    std::uint64_t version = 0;           // of the weights here
    std::uint64_t gradient_version = 0;  // of those that the gradient was computed at
  };

  void work_until_over(Work& done);
  /// Of the next batch, into gradient_.
  BatchResult take_gradient();
  void send_gradient();
  /// Returns whether the round is over.
  bool receive_weights(Work& done);
  void leave() noexcept;

  const Layout& layout_;
  const Options& options_;
  const comm::Communicator alone_ = comm::Communicator::self();
  BatchCursor batches_;
  double mean_weight_;
  BatchGradient batch_gradient_;
  std::span<float> weights_;
  const comm::Messages& messages_;
  std::vector<Server> servers_;
  std::vector<double> gradient_;
  double batch_weight_ = 0;  // of the batch that gradient_ is of
};

}  // namespace podere::neural
