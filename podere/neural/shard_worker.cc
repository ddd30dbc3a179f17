#include "podere/neural/shard_worker.h"

#include <algorithm>
#include <utility>

#include "podere/base/clock.h"

namespace podere::neural {

ShardWorker::ShardWorker(const Layout& layout, const Options& options, TrainingRows& rows, Batches batches,
                         double mean_weight, std::span<float> weights, const comm::Messages& messages,
                         std::vector<int> servers, std::span<const Shard> shards, int n_threads)
    : layout_(layout),
      options_(options),
      batches_(rows, std::move(batches), options.seed, n_threads),
      mean_weight_(mean_weight),
      batch_gradient_(layout, options, rows, alone_, n_threads),
      weights_(weights),
      messages_(messages),
      gradient_(layout.size()) {
  for (std::size_t s = 0; s < servers.size(); ++s) servers_.emplace_back(servers[s], shards[s]);
}

Work ShardWorker::work(std::uint64_t version) {
  for (Server& server : servers_) server.version = version;
  const Stopwatch watch;
  Work done;
  try {
    work_until_over(done);
  } catch (...) {
    leave();
    throw;
  }
  leave();
  done.seconds = watch.seconds();
  return done;
}

void ShardWorker::work_until_over(Work& done) {
  for (bool is_awaiting = false;;) {
    const BatchResult batch = take_gradient();
    if (is_awaiting && receive_weights(done)) return;
    done.is_finite = batch.is_finite;
    if (!done.is_finite) return;
    send_gradient();
    done.loss += batch.loss;
    done.weight += batch_weight_;
    ++done.n_batches;
    is_awaiting = options_.staleness != 0;
    if (!is_awaiting && receive_weights(done)) return;
  }
}

BatchResult ShardWorker::take_gradient() {
  const Batch batch = batches_.next();
  batch_weight_ = mean_weight_ * static_cast<double>(batch.n_rows);
  const BatchResult result =
      batch_gradient_.compute(weights_, batch.tiles, batch.dropout_key, batch_weight_, gradient_);
  regularize(layout_, options_, weights_, gradient_);
  // The weights may be others by the time it is sent.
  for (Server& server : servers_) server.gradient_version = server.version;
  return result;
}

void ShardWorker::send_gradient() {
  for (Server& server : servers_) {
    server.sending.wait();
    server.gradient.set_header({.version = server.gradient_version, .weight = batch_weight_});
    const std::span<const double> gradient = server.shard.of(std::span<const double>(gradient_));
    std::ranges::transform(gradient, server.gradient.values().begin(), [](double g) { return static_cast<float>(g); });
    server.receiving = messages_.start_receive(server.weights.bytes(), server.rank);
    server.sending = messages_.start_send(server.gradient.bytes(), server.rank);
  }
}

bool ShardWorker::receive_weights(Work& done) {
  const Stopwatch watch;
  for (Server& server : servers_) {
    server.receiving.wait();
    std::ranges::copy(server.weights.values(), server.shard.of(weights_).begin());
    server.version = server.weights.header().version;
  }
  done.wait_seconds += watch.seconds();
  // Servers may differ by gradients that cross each other, so one of them decides.
  return servers_.front().weights.header().is_last != 0;
}

void ShardWorker::leave() noexcept {
  for (Server& server : servers_) {
    server.receiving.wait();
    server.sending.wait();
    server.gradient.set_header({.is_last = 1});
    server.sending = messages_.start_send(server.gradient.bytes(), server.rank);
  }
  for (Server& server : servers_) server.sending.wait();
}

}  // namespace podere::neural
