// How long collectives take: mpirun -n RANKS communication_bench [--largest BYTES] [--runs N]
// Checks the sums; rank 0 prints one line of JSON a collective and size, the median of runs. Then what is gained by
// computing while a reduce_scatter is under way: Open MPI moves data on in its own calls only.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/comm/communicator.h"

namespace {

using podere::comm::Communicator;
using podere::comm::Reduction;

struct Setup {
  const Communicator& comm;
  std::size_t p;
  int n_runs;
};

/// The median over runs of the seconds that `body` takes the slowest rank.
template <typename Body>
double seconds_of(const Setup& setup, Body&& body) {
  std::vector<double> seconds;
  for (int run = 0; run < setup.n_runs; ++run) {
    setup.comm.barrier();
    const podere::Stopwatch watch;
    body();
    seconds.push_back(setup.comm.all_reduce(watch.seconds(), Reduction::kMax));
  }
  std::nth_element(seconds.begin(), seconds.begin() + setup.n_runs / 2, seconds.end());
  return seconds[static_cast<std::size_t>(setup.n_runs / 2)];
}

void check(const std::vector<std::int64_t>& values, std::int64_t expected, const char* what) {
  if (!std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == expected; })) {
    podere::throw_error("{} gives wrong sums", what);
  }
}

void report(const Setup& setup, const char* collective, std::size_t bytes, double seconds) {
  if (!setup.comm.is_root()) return;
  fmt::print("{{\"bench\":\"collective\",\"collective\":\"{}\",\"ranks\":{},\"bytes\":{},\"seconds\":{:.3g}}}\n",
             collective, setup.p, bytes, seconds);
}

/// `bytes` is what goes in; of all_gather what comes out.
void measure(const Setup& setup, std::size_t bytes) {
  const auto p = static_cast<std::int64_t>(setup.p);
  const std::size_t n_own = std::max<std::size_t>(bytes / 8 / setup.p, 1);
  const std::vector<std::size_t> counts(setup.p, n_own);
  const std::vector<std::int64_t> ones(n_own * setup.p, 1);
  std::vector<std::int64_t> own(n_own);
  report(setup, "reduce_scatter", ones.size() * 8, seconds_of(setup, [&] {
           setup.comm.reduce_scatter(std::span(ones), std::span(own), counts, Reduction::kSum);
         }));
  check(own, p, "reduce_scatter");

  std::vector<std::int64_t> gathered;
  report(setup, "all_gather", ones.size() * 8,
         seconds_of(setup, [&] { gathered = setup.comm.all_gather(std::span<const std::int64_t>(own)); }));
  check(gathered, p, "all_gather");

  std::vector<std::int64_t> sums;
  report(setup, "all_reduce", ones.size() * 8, seconds_of(setup, [&] {
           sums = ones;
           setup.comm.all_reduce(std::span(sums), Reduction::kSum);
         }));
  check(sums, p, "all_reduce");
}

/// Additions that the compiler cannot leave out.
std::uint64_t compute(std::size_t n) {
  volatile std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum = sum + i;
  return sum;
}

/// One after the other, and computing while the reduce_scatter is under way.
void measure_overlap(const Setup& setup, std::size_t bytes) {
  const std::vector<std::size_t> counts(setup.p, bytes / 8 / setup.p);
  const std::vector<std::int64_t> ones(counts[0] * setup.p, 1);
  std::vector<std::int64_t> own(counts[0]);
  const auto reduce = [&] { setup.comm.reduce_scatter(std::span(ones), std::span(own), counts, Reduction::kSum); };
  const double reduce_seconds = seconds_of(setup, reduce);
  constexpr std::size_t kTrial = 1'000'000;
  const auto n = static_cast<std::size_t>(kTrial * reduce_seconds / seconds_of(setup, [&] { compute(kTrial); }));

  const double in_turn = seconds_of(setup, [&] {
    reduce();
    compute(n);
  });
  const double overlapped = seconds_of(setup, [&] {
    auto pending = setup.comm.start_reduce_scatter(ones, counts, Reduction::kSum);
    compute(n);
    own = pending.wait();
  });
  check(own, static_cast<std::int64_t>(setup.p), "start_reduce_scatter");
  if (!setup.comm.is_root()) return;
  fmt::print(
      "{{\"bench\":\"overlap\",\"ranks\":{},\"bytes\":{},\"reduce_scatter_seconds\":{:.3g},\"in_turn_seconds\":{:.3g},"
      "\"overlapped_seconds\":{:.3g}}}\n",
      setup.p, bytes, reduce_seconds, in_turn, overlapped);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of collectives");
  std::size_t largest = std::size_t{16} << 20;
  int n_runs = 15;
  app.add_option("--largest", largest, "bytes")->check(CLI::PositiveNumber);
  app.add_option("--runs", n_runs)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  const podere::comm::Environment environment;
  const Communicator comm = Communicator::world();
  const Setup setup{comm, static_cast<std::size_t>(comm.size()), n_runs};
  try {
    for (std::size_t bytes = 64; bytes <= largest; bytes *= 4) measure(setup, bytes);
    measure_overlap(setup, largest / 4);
  } catch (const std::exception& error) {
    fmt::print(stderr, "communication_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
