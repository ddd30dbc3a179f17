#include "podere/tree/histogram.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "podere/tree/histogram_kernel.h"

namespace podere::tree {
namespace {

/// Rows of one node in one panel. Large nodes are cut in several tasks, which take turns at the node's cells.
struct Task {
  std::size_t node;
  std::size_t panel;
  std::span<const std::uint32_t> rows;
  bool shares_cells;
};

std::vector<Task> make_tasks(std::span<const std::span<const std::uint32_t>> rows_of_nodes,
                             std::span<const std::uint8_t> panel_is_used) {
  constexpr std::size_t kTaskRows = 16384;
  std::vector<Task> tasks;
  for (std::size_t node = 0; node < rows_of_nodes.size(); ++node) {
    const std::span<const std::uint32_t> rows = rows_of_nodes[node];
    for (std::size_t panel = 0; panel < panel_is_used.size(); ++panel) {
      // A node without rows and a panel without use have one task, which sets the cells to zero.
      const std::size_t n_rows = panel_is_used[panel] != 0 ? rows.size() : 0;
      std::size_t begin = 0;
      do {
        tasks.push_back({node, panel, rows.subspan(begin, std::min(kTaskRows, n_rows - begin)), n_rows > kTaskRows});
        begin += kTaskRows;
      } while (begin < n_rows);
    }
  }
  return tasks;
}

}  // namespace

HistogramLayout::HistogramLayout(const BinnedRows& binned, int n_ranks)
    : owner_(binned.n_features()), offset_(binned.n_features()) {
  std::size_t cells_left = 0;
  for (std::size_t j = 0; j < binned.n_features(); ++j) cells_left += static_cast<std::size_t>(binned.cuts(j).n_bins());
  total_width_ = cells_left;

  std::size_t feature = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const auto ranks_left = static_cast<std::size_t>(n_ranks - rank);
    const std::size_t begin = feature;
    std::size_t width = 0;
    while (feature < binned.n_features()) {
      const auto n_bins = static_cast<std::size_t>(binned.cuts(feature).n_bins());
      // Take a feature while the share of the ranks that are left is not reached by half of it.
      if (ranks_left > 1 && (2 * width + n_bins) * ranks_left > 2 * cells_left) break;
      owner_[feature] = static_cast<std::size_t>(rank);
      offset_[feature] = width;
      width += n_bins;
      ++feature;
    }
    features_.push_back({begin, feature});
    width_.push_back(width);
    start_.push_back(total_width_ - cells_left);
    cells_left -= width;
  }
}

std::vector<std::size_t> HistogramLayout::counts(std::size_t n_nodes) const {
  std::vector<std::size_t> counts;
  for (const std::size_t width : width_) counts.push_back(width * n_nodes);
  return counts;
}

std::span<std::int64_t> HistogramMemory::take(std::size_t n_cells) {
  if (n_taken_ == blocks_.size()) blocks_.emplace_back();
  HugeArray<std::int64_t>& block = blocks_[n_taken_++];
  if (block.size() < n_cells) block = HugeArray<std::int64_t>(n_cells);
  return block.span().first(n_cells);
}

std::span<std::int64_t> HistogramMemory::lend(std::size_t n_cells) {
  if (lent_.size() < n_cells) lent_ = HugeArray<std::int64_t>(n_cells);
  return lent_.span().first(n_cells);
}

std::span<std::int64_t> build_histograms(const BinnedRows& binned, const HistogramLayout& layout,
                                         std::span<const std::span<const std::uint32_t>> rows_of_nodes,
                                         std::span<const std::uint8_t> panel_is_used, const Quantisation& quantisation,
                                         const comm::Communicator& comm, int n_threads, HistogramMemory& memory) {
  const std::size_t n_nodes = rows_of_nodes.size();
  const auto rows_per_flush = static_cast<std::size_t>(quantisation.rows_per_flush());
  const std::span<std::int64_t> own = memory.take(n_nodes * layout.width(comm.rank()));
  const std::span<std::int64_t> cells = comm.size() == 1 ? own : memory.lend(layout.n_cells(n_nodes));
  const auto cells_locks = std::make_unique<std::mutex[]>(n_nodes * binned.n_panels());
  std::vector<std::uint8_t> is_set(n_nodes * binned.n_panels());
  const auto packed = std::make_unique<PackedHistogram[]>(static_cast<std::size_t>(std::max(n_threads, 1)));
  const std::vector<Task> tasks = make_tasks(rows_of_nodes, panel_is_used);

  parallel_for(n_threads, tasks.size(), [&](std::size_t t, int thread) {
    const Task& task = tasks[t];
    const std::size_t first_feature = binned.panel_begin(task.panel);
    const std::size_t n_lanes = binned.panel_end(task.panel) - first_feature;
    PackedHistogram& histogram = packed[static_cast<std::size_t>(thread)];
    const std::size_t place = task.node * binned.n_panels() + task.panel;
    std::size_t begin = 0;
    do {
      const std::size_t n = std::min(rows_per_flush, task.rows.size() - begin);
      accumulate(binned.panel(task.panel), task.rows.subspan(begin, n), n_lanes, histogram);
      begin += n;
      std::unique_lock lock(cells_locks[place], std::defer_lock);
      if (task.shares_cells) lock.lock();
      const bool is_first = std::exchange(is_set[place], 1) == 0;
      for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        const std::size_t feature = first_feature + lane;
        flush_lane(histogram.cells + lane * kCellsPerLane, static_cast<std::size_t>(binned.cuts(feature).n_bins()),
                   is_first, cells.data() + layout.cell(feature, task.node, n_nodes));
      }
      for (std::size_t lane = n_lanes; lane < kPanelFeatures; ++lane) histogram.cells[lane * kCellsPerLane] = 0;
    } while (begin < task.rows.size());
  });

  if (comm.size() > 1) {
    comm.reduce_scatter(std::span<const std::int64_t>(cells), own, layout.counts(n_nodes), comm::Reduction::kSum);
  }
  return own;
}

}  // namespace podere::tree
