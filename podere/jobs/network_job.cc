#include "podere/jobs/network_job.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/jobs/job_context.h"

namespace podere::jobs {
namespace {

constexpr std::size_t kShort = 8;        // bytes: doubling, log2 p steps
constexpr std::size_t kLong = 16 << 20;  // a ring, 2(p-1) steps
constexpr int kMostRuns = 10000;

/// The median over runs of the seconds that an all_reduce takes the slowest executor.
double seconds_of(std::size_t n_bytes, int n_runs, const comm::Communicator& comm) {
  std::vector<std::int64_t> values(n_bytes / sizeof(std::int64_t));
  std::vector<double> seconds;
  for (int i = 0; i < n_runs + 1; ++i) {  // the first one opens connections
    comm.barrier();
    const Stopwatch watch;
    comm.all_reduce(std::span(values), comm::Reduction::kSum);
    const double taken = comm.all_reduce(watch.seconds(), comm::Reduction::kMax);
    if (i > 0) seconds.push_back(taken);
  }
  std::ranges::nth_element(seconds, seconds.begin() + n_runs / 2);
  return seconds[static_cast<std::size_t>(n_runs / 2)];
}

}  // namespace

Json run(const NetworkJob& job, const JobContext& context) {
  const comm::Communicator& comm = context.comm;
  if (comm.size() < 2) throw_input_error("network: needs 2 executors, which it measures between");
  if (job.n_runs < 1 || job.n_runs > kMostRuns) {
    throw_input_error("network: n_runs must be from 1 to {}, it is {}", kMostRuns, job.n_runs);
  }
  context.progress.report({"network", 0, 1, {}});
  const double p = comm.size();
  const double latency = seconds_of(kShort, job.n_runs, comm) / std::ceil(std::log2(p));
  const double sending = seconds_of(kLong, job.n_runs, comm) - 2 * (p - 1) * latency;
  const double bytes = 2 * (p - 1) / p * static_cast<double>(kLong);
  constexpr double kLeastSeconds = 1e-6;
  return {{"latency_us", 1e6 * latency}, {"gigabits", 8e-9 * bytes / std::max(sending, kLeastSeconds)}};
}

}  // namespace podere::jobs
