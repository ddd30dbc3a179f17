#include "podere/neural/shard_server.h"

#include <algorithm>
#include <utility>

namespace podere::neural {

ShardServer::ShardServer(const Options& options, Shard shard, std::span<float> weights, Descent& descent,
                         const comm::Messages& messages, const std::vector<int>& workers)
    : options_(options),
      shard_(shard),
      weights_(weights),
      descent_(descent),
      messages_(messages),
      receiving_(workers.size()),
      gradient_(shard.n),
      staleness_(kStalenessCounts) {
  for (const int rank : workers) workers_.emplace_back(rank, shard.n);
}

void ShardServer::serve(std::uint64_t version, std::size_t n_gradients) noexcept {
  version_ = version;
  n_left_ = n_gradients;
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    workers_[w].n_gradients = 0;
    workers_[w].has_left = false;
    receive_from(w);
  }
  for (std::size_t n_here = workers_.size(); n_here > 0;) {
    const std::size_t ready = comm::Messages::await_any(receiving_, next_);
    next_ = ready + 1;
    Worker& worker = workers_[ready];
    if (worker.gradient.header().is_last != 0) {
      worker.has_left = true;
      --n_here;
    } else {
      take(worker);
    }
    if (is_synchronous()) step_together();
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].is_waiting && may_continue(workers_[w])) answer(w);
    }
  }
  for (Worker& worker : workers_) worker.sending.wait();
}

void ShardServer::receive_from(std::size_t w) {
  receiving_[w] = messages_.start_receive(workers_[w].gradient.bytes(), workers_[w].rank);
}

void ShardServer::take(Worker& worker) {
  ++worker.n_gradients;
  worker.is_waiting = true;
  worker.has_gradient = true;
  if (is_synchronous() || n_left_ == 0) return;
  ++staleness_[std::min<std::uint64_t>(version_ - worker.gradient.header().version, kStalenessCounts - 1)];
  std::ranges::copy(worker.gradient.values(), gradient_.begin());
  worker.has_gradient = false;
  step(1);
}

void ShardServer::step_together() {
  if (n_left_ == 0) return;
  const auto is_awaited = [](const Worker& worker) { return !worker.has_left && !worker.has_gradient; };
  const auto has_gradient = [](const Worker& worker) { return worker.has_gradient; };
  if (std::ranges::any_of(workers_, is_awaited) || std::ranges::none_of(workers_, has_gradient)) return;
  double weight = 0;
  for (const Worker& worker : workers_) weight += worker.has_gradient ? worker.gradient.header().weight : 0;
  std::ranges::fill(gradient_, 0);
  std::size_t n_gradients = 0;
  for (Worker& worker : workers_) {
    if (!std::exchange(worker.has_gradient, false)) continue;
    const double share = worker.gradient.header().weight / weight;
    const std::span<const float> values = worker.gradient.values();
    for (std::size_t i = 0; i < shard_.n; ++i) gradient_[i] += share * values[i];
    ++staleness_[0];
    ++n_gradients;
  }
  step(n_gradients);
}

void ShardServer::step(std::size_t n_gradients) {
  descent_.step(gradient_, weights_, shard_, n_gradients);
  version_ += n_gradients;
  n_left_ -= std::min(n_left_, n_gradients);
}

bool ShardServer::may_continue(const Worker& worker) const {
  if (n_left_ == 0) return true;
  if (is_synchronous()) return !worker.has_gradient;
  if (options_.staleness < 0) return true;
  std::size_t slowest = worker.n_gradients;
  for (const Worker& other : workers_) {
    if (!other.has_left) slowest = std::min(slowest, other.n_gradients);
  }
  return worker.n_gradients - slowest < static_cast<std::size_t>(options_.staleness);
}

void ShardServer::answer(std::size_t w) {
  Worker& worker = workers_[w];
  worker.is_waiting = false;
  worker.has_gradient = false;
  receive_from(w);
  worker.sending.wait();
  worker.weights.set_header({.version = version_, .is_last = n_left_ == 0 ? 1U : 0U});
  std::ranges::copy(shard_.of(std::span<const float>(weights_)), worker.weights.values().begin());
  worker.sending = messages_.start_send(worker.weights.bytes(), worker.rank);
}

}  // namespace podere::neural
