#include "podere/tree/partition.h"

#include <algorithm>

namespace podere::tree {
namespace {

constexpr std::size_t kWholeRows = 65536;  // up to so many rows of a node are parted where they lie, by one thread
constexpr std::size_t kRunRows = 8192;     // larger nodes are cut into runs

/// A run of one node's rows.
struct PartTask {
  std::size_t parting;
  Slice rows;
  bool is_whole;  // all rows of the node, parted where they lie
  std::size_t n_left = 0;
};

/// Copies `rows` to `parted`, which may be `rows` itself, those that go left first. Returns how many these are.
std::size_t part_run(std::span<const std::uint8_t> bins, const RouteTable& goes_left,
                     std::span<const std::uint32_t> rows, std::uint32_t* parted) {
  std::array<std::uint32_t, kWholeRows> right;  // fits a second-level cache
  std::size_t n_left = 0;
  std::size_t n_right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    prefetch_ahead(bins.data(), rows, i);
    // Both are written and one is kept: no branch to guess wrong. What is written never lies ahead of what is read.
    const std::uint32_t row = rows[i];
    const std::size_t is_left = goes_left[bins[row]];
    parted[n_left] = row;
    right[n_right] = row;
    n_left += is_left;
    n_right += 1 - is_left;
  }
  std::copy_n(right.begin(), n_right, parted + n_left);
  return n_left;
}

}  // namespace

RouteTable route_table(const Split& split, const FeatureCuts& cuts) {
  RouteTable goes_left{};
  for (std::size_t bin = 0; bin <= cuts.cuts.size(); ++bin) goes_left[bin] = split.value_goes_left(bin) ? 1 : 0;
  if (cuts.has_missing) goes_left[static_cast<std::size_t>(cuts.missing_bin())] = split.missing_left ? 1 : 0;
  return goes_left;
}

std::vector<std::size_t> partition_rows(const BinnedRows& binned, std::span<const Parting> partings, int n_threads,
                                        std::span<std::uint32_t> rows, std::span<std::uint32_t> scratch) {
  std::vector<PartTask> tasks;
  for (std::size_t p = 0; p < partings.size(); ++p) {
    const Slice node = partings[p].rows;
    if (node.end - node.begin <= kWholeRows) {
      tasks.push_back({p, node, true});
      continue;
    }
    for (std::size_t begin = node.begin; begin < node.end; begin += kRunRows) {
      tasks.push_back({p, {begin, std::min(begin + kRunRows, node.end)}, false});
    }
  }
  parallel_for(n_threads, tasks.size(), [&](std::size_t t, int) {
    PartTask& task = tasks[t];
    const Split& split = partings[task.parting].split;
    const auto feature = static_cast<std::size_t>(split.feature);
    task.n_left = part_run(binned.column(feature), route_table(split, binned.cuts(feature)),
                           rows.subspan(task.rows.begin, task.rows.end - task.rows.begin),
                           (task.is_whole ? rows : scratch).data() + task.rows.begin);
  });

  std::vector<std::size_t> n_left(partings.size());
  for (const PartTask& task : tasks) n_left[task.parting] += task.n_left;

  // Where each run's left and right rows go in its node.
  std::vector<Slice> targets(tasks.size());
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::size_t p = tasks[t].parting;
    if (tasks[t].rows.begin == partings[p].rows.begin) {
      left = partings[p].rows.begin;
      right = left + n_left[p];
    }
    targets[t] = {left, right};
    left += tasks[t].n_left;
    right += tasks[t].rows.end - tasks[t].rows.begin - tasks[t].n_left;
  }
  parallel_for(n_threads, tasks.size(), [&](std::size_t t, int) {
    const PartTask& task = tasks[t];
    if (task.is_whole) return;
    const auto parted = scratch.subspan(task.rows.begin, task.rows.end - task.rows.begin);
    std::copy_n(parted.begin(), task.n_left, rows.begin() + static_cast<std::ptrdiff_t>(targets[t].begin));
    std::copy(parted.begin() + static_cast<std::ptrdiff_t>(task.n_left), parted.end(),
              rows.begin() + static_cast<std::ptrdiff_t>(targets[t].end));
  });
  return n_left;
}

}  // namespace podere::tree
