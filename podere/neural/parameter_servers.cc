#include "podere/neural/parameter_servers.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "podere/base/error.h"
#include "podere/comm/messages.h"
#include "podere/neural/shard_worker.h"

namespace podere::neural {
namespace {

/// A round has so many gradients of each worker, which makes what is waited for at its end little; more where an epoch
/// would have more than kMostRounds rounds.
constexpr std::size_t kRoundGradients = 100;
constexpr std::size_t kMostRounds = 20;

/// Whole runs of lanes, as even as these allow.
std::vector<Shard> cut_shards(std::size_t n_weights, std::size_t n_servers) {
  const std::size_t n_runs = n_weights / kLanes;
  std::vector<Shard> shards;
  for (std::size_t s = 0; s < n_servers; ++s) {
    const std::size_t begin = n_runs * s / n_servers * kLanes;
    shards.push_back({begin, n_runs * (s + 1) / n_servers * kLanes - begin});
  }
  return shards;
}

/// Those of the row blocks that are here; no rows of the others.
std::vector<std::uint16_t> rows_here(std::vector<std::uint16_t> block_rows, const TrainingRows& rows) {
  for (std::size_t block = 0; block < block_rows.size(); ++block) {
    if (block < rows.first_block() || block >= rows.first_block() + rows.n_blocks()) block_rows[block] = 0;
  }
  return block_rows;
}

class ParameterServers final : public Solver {
 public:
  ParameterServers(const Layout& layout, const Options& options, TrainingRows& rows,
                   std::vector<std::uint16_t> block_rows, double weight_sum, std::vector<float> weights,
                   const comm::Communicator& comm, int n_threads)
      : options_(options),
        comm_(comm),
        messages_(comm),
        workers_(workers_with_rows(rows)),
        shards_(cut_shards(layout.size(), static_cast<std::size_t>(options.servers))),
        n_steps_(Batches(block_rows, static_cast<std::size_t>(options.batch_size)).n_steps()),
        descent_(layout, options, n_steps_, n_threads),
        weights_(std::move(weights)) {
    const int n_workers = count_workers(options, comm.size());
    report_ = {StalenessCounts(kStalenessCounts), std::vector<double>(n_workers), std::vector<double>(n_workers)};
    std::vector<int> servers(shards_.size());
    std::iota(servers.begin(), servers.end(), n_workers);
    if (comm.rank() >= n_workers) {
      shard_ = shards_[static_cast<std::size_t>(comm.rank() - n_workers)];
      server_.emplace(options, shard_, weights_, descent_, messages_, workers_);
    } else if (std::ranges::find(workers_, comm.rank()) != workers_.end()) {
      const auto n_rows = static_cast<double>(std::accumulate(block_rows.begin(), block_rows.end(), std::uint64_t{0}));
      Batches batches(rows_here(std::move(block_rows), rows), static_cast<std::size_t>(options.batch_size));
      worker_.emplace(layout, options, rows, std::move(batches), weight_sum / n_rows, weights_, messages_,
                      std::move(servers), shards_, n_threads);
    }
  }

  StepReport step(std::size_t most) override {
    const std::size_t n_before = version();
    Work done;
    comm_.agree([&] {
      if (server_) server_->serve(version(), gradients_of_round(most));
      if (worker_) done = worker_->work(version());
    });
    work_.add(done);
    share();
    return report(done, version() - n_before);
  }

  std::size_t n_steps() const override { return n_steps_; }
  bool has_converged() const override { return false; }
  double learning_rate() const override { return descent_.learning_rate(); }
  std::span<const float> weights() const override { return weights_; }
  const ServersReport& servers_report() const override { return report_; }

  void save(TrainState& state) const override {
    descent_.save(state);
    save_weights(weights_, state);
  }

  void load(const TrainState& state) override {
    descent_.load(state);
    load_weights(state, weights_);
    // Exactly where it was if all workers are in step and as many as before, else about there.
    if (worker_) worker_->go_to(version() / workers_.size());
  }

 private:
  std::vector<int> workers_with_rows(const TrainingRows& rows) const {
    const std::vector<std::uint64_t> n_rows = comm_.all_gather<std::uint64_t>(rows.order.size());
    std::vector<int> workers;
    for (std::size_t r = 0; r < n_rows.size(); ++r) {
      if (n_rows[r] > 0) workers.push_back(static_cast<int>(r));
    }
    return workers;
  }

  std::size_t gradients_of_round(std::size_t most) const {
    const std::size_t usual = std::max(kRoundGradients * workers_.size(), (n_steps_ + kMostRounds - 1) / kMostRounds);
    return std::min({usual, n_steps_ - version() % n_steps_, most});
  }

  /// Gradients applied since the start.
  std::size_t version() const { return descent_.n_batches(); }

  /// What each server has goes to all.
  void share() {
    std::vector<std::size_t> counts(static_cast<std::size_t>(comm_.size()) - shards_.size(), 0);
    for (const Shard& shard : shards_) counts.push_back(shard.n);
    const auto gather = [&](std::span<float> all) {
      if (all.empty()) return;
      const std::vector<float> whole = comm_.all_gather_v(shard_.of(std::span<const float>(all)), counts);
      std::ranges::copy(whole, all.begin());
    };
    gather(weights_);
    for (const std::span<float> moments : descent_.moments()) gather(moments);
    std::array<double, 5> counters = descent_.counters();
    comm_.broadcast(std::span<double>(counters), comm_.size() - 1);
    descent_.set_counters(counters);
  }

  StepReport report(const Work& done, std::size_t n_gradients) {
    std::array<double, 2> sums{done.loss, done.weight};
    comm_.all_reduce(std::span<double>(sums), comm::Reduction::kSum);
    const int is_finite = comm_.all_reduce(done.is_finite ? 1 : 0, comm::Reduction::kMin);
    const bool is_first_server = comm_.rank() + options_.servers == comm_.size();
    report_.staleness = is_first_server ? server_->staleness() : StalenessCounts(kStalenessCounts);
    comm_.all_reduce(std::span<std::uint64_t>(report_.staleness), comm::Reduction::kSum);
    const double seconds = std::max(work_.seconds, 1e-9);
    report_.steps_per_second = comm_.all_gather(static_cast<double>(work_.n_batches) / seconds);
    report_.wait_shares = comm_.all_gather(work_.wait_seconds / seconds);
    report_.steps_per_second.resize(report_.steps_per_second.size() - shards_.size());
    report_.wait_shares.resize(report_.wait_shares.size() - shards_.size());
    return {.n_steps = n_gradients,
            .loss = sums[0],
            .weight = sums[1],
            .is_finite = is_finite != 0 && are_finite(weights_)};
  }

  const Options& options_;
  const comm::Communicator& comm_;
  comm::Messages messages_;
  std::vector<int> workers_;  // those that have rows
  std::vector<Shard> shards_;
  std::size_t n_steps_;  // gradients of an epoch: batches of all rows, whichever worker has them
  Descent descent_;
  std::vector<float> weights_;
  Shard shard_;  // of this server; none of a worker
  std::optional<ShardServer> server_;
  std::optional<ShardWorker> worker_;
  Work work_;  // of this worker in all rounds
  ServersReport report_;
};

}  // namespace

int count_workers(const Options& options, int n_ranks) {
  if (n_ranks <= options.servers) {
    throw_input_error("servers is {}: that takes {} executors at least, there are {}", options.servers,
                      options.servers + 1, n_ranks);
  }
  return n_ranks - options.servers;
}

std::unique_ptr<Solver> make_parameter_servers(const Layout& layout, const Options& options, TrainingRows& rows,
                                               std::vector<std::uint16_t> block_rows, double weight_sum,
                                               std::vector<float> weights, const comm::Communicator& comm,
                                               int n_threads) {
  return std::make_unique<ParameterServers>(layout, options, rows, std::move(block_rows), weight_sum,
                                            std::move(weights), comm, n_threads);
}

}  // namespace podere::neural
