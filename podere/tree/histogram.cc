#include "podere/tree/histogram.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "podere/tree/histogram_kernel.h"

namespace podere::tree {
namespace {

/// Rows of one node in one panel. Large nodes are cut in several tasks, which share the node's cells.
struct Task {
  std::size_t node;
  std::size_t panel;
  std::span<const std::uint32_t> rows;
  bool shares_cells;
};

constexpr std::size_t kTaskRows = 16384;

std::vector<Task> make_tasks(std::span<const NodeRows> nodes, std::span<const std::uint8_t> panel_is_used) {
  std::vector<Task> tasks;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::span<const std::uint32_t> rows = nodes[node].rows;
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

/// Nodes whose packed cells need no flush before their rows are done, whatever rank these are on.
std::vector<std::uint8_t> find_narrow(std::span<const NodeRows> nodes, const Quantization& quantization) {
  const auto most = std::min(kTaskRows, static_cast<std::size_t>(quantization.rows_per_flush()));
  std::vector<std::uint8_t> is_narrow;
  for (const NodeRows& node : nodes) is_narrow.push_back(node.n_global_rows <= most ? 1 : 0);
  return is_narrow;
}

std::vector<std::size_t> bins_of(const BinnedRows& binned) {
  std::vector<std::size_t> n_bins;
  for (std::size_t j = 0; j < binned.n_features(); ++j) {
    n_bins.push_back(static_cast<std::size_t>(binned.cuts(j).n_bins()));
  }
  return n_bins;
}

/// The rank in whose share of all cells the middle of a feature lies. Where there are more ranks than features, the
/// owners are spread over them.
std::vector<std::size_t> choose_owners(std::span<const std::size_t> n_bins, std::size_t n_ranks) {
  const std::size_t n_cells = std::accumulate(n_bins.begin(), n_bins.end(), std::size_t{0});
  std::vector<std::size_t> owners;
  std::size_t cells_before = 0;
  for (const std::size_t n : n_bins) {
    owners.push_back((2 * cells_before + n) * n_ranks / (2 * n_cells));
    cells_before += n;
  }
  return owners;
}

std::vector<std::size_t> words_of(std::vector<std::size_t> n_bins) {
  for (std::size_t& n : n_bins) n = narrow_words(n);
  return n_bins;
}

}  // namespace

FeatureWords::FeatureWords(std::span<const std::size_t> widths, std::span<const std::size_t> owners,
                           std::size_t n_ranks)
    : width(n_ranks), start(n_ranks), total(std::accumulate(widths.begin(), widths.end(), std::size_t{0})) {
  for (std::size_t j = 0; j < widths.size(); ++j) {
    offset.push_back(width[owners[j]]);
    width[owners[j]] += widths[j];
  }
  std::exclusive_scan(width.begin(), width.end(), start.begin(), std::size_t{0});
}

HistogramLayout::HistogramLayout(const BinnedRows& binned, int n_ranks)
    : HistogramLayout(bins_of(binned), static_cast<std::size_t>(n_ranks)) {}

HistogramLayout::HistogramLayout(std::vector<std::size_t> n_bins, std::size_t n_ranks)
    : owner_(choose_owners(n_bins, n_ranks)),
      wide_(n_bins, owner_, n_ranks),
      narrow_(words_of(std::move(n_bins)), owner_, n_ranks) {
  for (std::size_t rank = 0; rank < n_ranks; ++rank) {
    const auto [first, last] = std::equal_range(owner_.begin(), owner_.end(), rank);
    features_.push_back(
        {static_cast<std::size_t>(first - owner_.begin()), static_cast<std::size_t>(last - owner_.begin())});
  }
}

HistogramMessage::HistogramMessage(const HistogramLayout& layout, std::vector<std::uint8_t> is_narrow)
    : layout_(layout), is_narrow_(std::move(is_narrow)) {
  for (const std::uint8_t narrow : is_narrow_) {
    narrow_before_.push_back(n_narrow_);
    n_narrow_ += narrow;
  }
  n_wide_ = is_narrow_.size() - n_narrow_;
}

std::vector<std::size_t> HistogramMessage::counts() const {
  std::vector<std::size_t> counts;
  for (std::size_t rank = 0; rank < layout_.features_.size(); ++rank) {
    counts.push_back(n_wide_ * layout_.wide_.width[rank] + n_narrow_ * layout_.narrow_.width[rank]);
  }
  return counts;
}

std::span<std::int64_t> HistogramMemory::take(std::size_t n_cells) {
  if (n_used_ == blocks_.size()) blocks_.emplace_back();
  HugeArray<std::int64_t>& block = blocks_[n_used_++];
  if (block.size() < n_cells) block = HugeArray<std::int64_t>(n_cells);
  return block.span().first(n_cells);
}

std::span<std::int64_t> HistogramMemory::scratch(std::size_t n_cells) {
  if (scratch_.size() < n_cells) scratch_ = HugeArray<std::int64_t>(n_cells);
  return scratch_.span().first(n_cells);
}

namespace {

/// What a thread adds up before others see it.
struct ThreadSums {
  PackedHistogram packed;
  std::array<std::int64_t, kPanelFeatures * kCellsPerLane> wide;  // of a task that shares its cells
};

/// Adds up this rank's rows of all nodes into `words`, laid out for `message`.
void add_up(const BinnedRows& binned, std::span<const NodeRows> nodes, std::span<const std::uint8_t> panel_is_used,
            const Quantization& quantization, int n_threads, const HistogramMessage& message,
            std::span<std::int64_t> words) {
  const auto rows_per_flush = static_cast<std::size_t>(quantization.rows_per_flush());
  const auto cells_locks = std::make_unique<std::mutex[]>(nodes.size() * binned.n_panels());
  std::vector<std::uint8_t> is_set(nodes.size() * binned.n_panels());
  const auto sums = std::make_unique<ThreadSums[]>(static_cast<std::size_t>(std::max(n_threads, 1)));
  const std::vector<Task> tasks = make_tasks(nodes, panel_is_used);

  parallel_for(n_threads, tasks.size(), [&](std::size_t t, int thread) {
    const Task& task = tasks[t];
    const std::size_t first_feature = binned.panel_begin(task.panel);
    const std::size_t n_lanes = binned.panel_end(task.panel) - first_feature;
    const std::size_t place = task.node * binned.n_panels() + task.panel;
    const auto n_bins = [&](std::size_t lane) {
      return static_cast<std::size_t>(binned.cuts(first_feature + lane).n_bins());
    };
    const auto cells = [&](std::size_t lane) { return words.data() + message.word(first_feature + lane, task.node); };
    // Cells that another thread wrote last are slow to come: shared ones are added to once a task, not at each flush.
    const bool adds_later = task.shares_cells && n_threads > 1;
    PackedHistogram& packed = sums[static_cast<std::size_t>(thread)].packed;
    auto& wide = sums[static_cast<std::size_t>(thread)].wide;
    std::size_t begin = 0;
    do {
      const std::size_t n = std::min(rows_per_flush, task.rows.size() - begin);
      accumulate(binned.panel(task.panel), task.rows.subspan(begin, n), n_lanes, packed);
      const bool is_first = adds_later ? begin == 0 : std::exchange(is_set[place], 1) == 0;
      for (std::size_t lane = 0; lane < n_lanes; ++lane) {
        std::int32_t* const from = packed.cells + lane * kCellsPerLane;
        if (message.is_narrow(task.node)) {
          flush_lane_narrow(from, n_bins(lane), cells(lane));
        } else {
          flush_lane(from, n_bins(lane), is_first, adds_later ? &wide[lane * kCellsPerLane] : cells(lane));
        }
      }
      for (std::size_t lane = n_lanes; lane < kPanelFeatures; ++lane) packed.cells[lane * kCellsPerLane] = 0;
      begin += n;
    } while (begin < task.rows.size());
    if (!adds_later) return;
    const std::lock_guard lock(cells_locks[place]);
    const bool is_first = std::exchange(is_set[place], 1) == 0;
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
      add_cells(&wide[lane * kCellsPerLane], n_bins(lane), is_first, cells(lane));
    }
  });
}

}  // namespace

std::span<std::int64_t> build_histograms(const BinnedRows& binned, const HistogramLayout& layout,
                                         std::span<const NodeRows> nodes, std::span<const std::uint8_t> panel_is_used,
                                         const Quantization& quantization, const comm::Communicator& comm,
                                         int n_threads, HistogramMemory& memory) {
  const bool is_alone = comm.size() == 1;
  const HistogramMessage message(layout,
                                 is_alone ? std::vector<std::uint8_t>(nodes.size()) : find_narrow(nodes, quantization));
  const std::size_t width = layout.width(comm.rank());
  const std::vector<std::size_t> counts = message.counts();
  const std::size_t n_received = is_alone ? 0 : counts[static_cast<std::size_t>(comm.rank())];
  const std::span<std::int64_t> own = memory.take(nodes.size() * width);
  const std::span<std::int64_t> scratch = is_alone ? own : memory.scratch(message.n_words() + n_received);
  const std::span<std::int64_t> words = scratch.first(message.n_words());
  add_up(binned, nodes, panel_is_used, quantization, n_threads, message, words);
  if (is_alone) return own;

  const std::span<std::int64_t> received = scratch.last(n_received);
  comm.reduce_scatter(std::span<const std::int64_t>(words), received, counts, comm::Reduction::kSum);
  const Slice features = layout.features_of(comm.rank());
  const std::size_t start = message.start(static_cast<std::size_t>(comm.rank()));
  parallel_for(n_threads, nodes.size(), [&](std::size_t node, int) {
    for (std::size_t feature = features.begin; feature < features.end; ++feature) {
      const auto n_bins = static_cast<std::size_t>(binned.cuts(feature).n_bins());
      const std::int64_t* const from = received.data() + message.word(feature, node) - start;
      std::int64_t* const to = own.data() + node * width + layout.offset(feature);
      if (message.is_narrow(node)) {
        widen_lane(from, n_bins, to);
      } else {
        std::copy_n(from, n_bins, to);
      }
    }
  });
  return own;
}

}  // namespace podere::tree
