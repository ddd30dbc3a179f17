#include "podere/neural/batch_gradient.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "podere/base/parallel.h"
#include "podere/neural/sum_kernel.h"

namespace podere::neural {
namespace {

// Sizes of values as they are summed over executors: one word for every so many powers of two. The last is of what is
// near the end of float32, infinite or NaN.
constexpr int kPowersPerSize = 4;
constexpr std::size_t kSizes = 256 / kPowersPerSize;

std::size_t size_of(std::uint32_t bits) { return (bits >> 23) / kPowersPerSize; }
/// Values of this size are below 2^this.
int bound_of(std::size_t size) { return static_cast<int>(size + 1) * kPowersPerSize - 127; }

/// Powers of two that the sum over so many tiles needs beyond 62 - kScaledBits.
int extra_bits(std::size_t n_tiles) {
  return std::max(0, static_cast<int>(std::bit_width(n_tiles)) - (62 - kScaledBits));
}

constexpr int kHeadroom = 8;    // powers of two by which the next batch may have larger values
constexpr int kMostSpare = 20;  // powers of two by which it may have smaller ones before precision suffers

}  // namespace

struct BatchGradient::Worker {
  Worker(const Layout& layout, const Options& options, const FeatureRows& rows)
      : pass(layout, options), sum(layout.size()), inputs(kTileRows * rows.stride), next(rows.width) {}
  TilePass pass;
  GradientSum sum;
  HugeArray<float> inputs;
  NextRows next;
  float label[kTileRows];
  float weight[kTileRows];
  std::uint64_t global_rows[kTileRows];
};

BatchGradient::BatchGradient(const Layout& layout, const Options& options, TrainingRows& rows,
                             const comm::Communicator& comm, int n_threads)
    : layout_(layout),
      rows_(rows),
      comm_(comm),
      n_threads_(std::max(n_threads, 1)),
      weights_(layout),
      words_(layout.size() + ExactSum::kWords + kSizes) {
  for (int t = 0; t < n_threads_; ++t) workers_.emplace_back(layout, options, rows.features);
}

BatchGradient::~BatchGradient() = default;

TileRows BatchGradient::gather(const Tile& tile, Worker& worker, std::uint64_t dropout_key) {
  const std::size_t local_block = tile.block - rows_.first_block();
  const std::span<const std::uint16_t> places = rows_.of_block(local_block).subspan(tile.first, tile.n);
  const std::size_t stride = rows_.features.stride;
  const std::size_t first_row = local_block * table::kBlockRows + places[0];
  bool in_order = true;
  for (std::size_t i = 0; i < tile.n; ++i) {
    const std::size_t row = local_block * table::kBlockRows + places[i];
    in_order = in_order && row == first_row + i;
    worker.label[i] = rows_.labels.label[row];
    worker.weight[i] = rows_.labels.weight_of(row);
    worker.global_rows[i] = rows_.features.range.begin + row;
  }
  // Rows in order, as L-BFGS takes them, are read where they lie.
  const float* inputs = rows_.features.row(first_row);
  if (!in_order || !rows_.features.holds_inputs()) {
    for (std::size_t i = 0; i < tile.n; ++i) {
      rows_.features.copy_inputs(local_block * table::kBlockRows + places[i], worker.inputs.data() + i * stride);
    }
    inputs = worker.inputs.data();
  }
  return {inputs, worker.label, worker.weight, tile.n, dropout_key, worker.global_rows, &worker.next};
}

void BatchGradient::announce(const Tile& tile, Worker& worker) const {
  const std::size_t local_block = tile.block - rows_.first_block();
  for (const std::uint16_t place : rows_.of_block(local_block).subspan(tile.first, tile.n)) {
    worker.next.add(rows_.features.row(local_block * table::kBlockRows + place));
  }
}

BatchResult BatchGradient::compute(std::span<const float> weights, std::span<const Tile> tiles,
                                   std::uint64_t dropout_key, double divisor, std::span<double> gradient) {
  weights_.set(weights, n_threads_);
  const std::size_t first_block = rows_.first_block();
  std::vector<Tile> here;
  for (const Tile& tile : tiles) {
    if (tile.block >= first_block && tile.block < first_block + rows_.n_blocks()) here.push_back(tile);
  }
  const int bits = kScaledBits - extra_bits(tiles.size());
  BatchResult result;
  for (;;) {
    for (Worker& worker : workers_) {
      std::ranges::fill(worker.sum.gradient, 0);
      worker.sum.largest = 0;
      worker.sum.loss = ExactSum();
    }
    parallel_for(n_threads_, here.size(), [&](std::size_t i, int thread) {
      Worker& worker = workers_[static_cast<std::size_t>(thread)];
      const TileRows rows = gather(here[i], worker, dropout_key);
      worker.next.clear();
      if (i + 1 < here.size()) announce(here[i + 1], worker);  // which is this thread's next, mostly
      worker.pass.add_gradient(weights_, rows, exponent_, worker.sum);
    });
    add_up_threads();
    comm_.all_reduce(std::span(words_), comm::Reduction::kSum);

    const std::size_t n = layout_.size();
    std::size_t size = kSizes;
    while (size > 0 && words_[n + ExactSum::kWords + size - 1] == 0) --size;
    // `size` is one more than the largest; 1 too if there were no tiles, as every thread is counted.
    ExactSum loss;
    loss.set_words(std::span(words_).subspan(n).first<ExactSum::kWords>());
    result.loss = loss.value();
    result.is_finite = std::isfinite(result.loss) && size < kSizes;
    if (!result.is_finite || size <= 1) break;
    const int spare = bits - (bound_of(size - 1) + exponent_);
    if (spare >= 0 && spare <= kMostSpare) break;
    exponent_ = bits - kHeadroom - bound_of(size - 1);
  }
  const double unit = std::ldexp(1.0, -exponent_) / divisor;
  parallel_for_slices(n_threads_, gradient.size(), kGrainWeights, [&](std::size_t begin, std::size_t end, int) {
    for (std::size_t i = begin; i < end; ++i) gradient[i] = static_cast<double>(words_[i]) * unit;
  });
  return result;
}

void BatchGradient::add_up_threads() {
  const std::size_t n = layout_.size();
  parallel_for_slices(n_threads_, n, kGrainWeights, [&](std::size_t begin, std::size_t end, int) {
    std::copy(workers_[0].sum.gradient.begin() + begin, workers_[0].sum.gradient.begin() + end, words_.begin() + begin);
    for (std::size_t t = 1; t < workers_.size(); ++t) {
      // Unsigned: sums of values that turned out too large may wrap.
      for (std::size_t i = begin; i < end; ++i) {
        words_[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(words_[i]) +
                                              static_cast<std::uint64_t>(workers_[t].sum.gradient[i]));
      }
    }
  });
  ExactSum loss;
  std::fill(words_.begin() + n, words_.end(), 0);
  for (const Worker& worker : workers_) {
    loss.add(worker.sum.loss);
    ++words_[n + ExactSum::kWords + size_of(worker.sum.largest)];
  }
  std::ranges::copy(loss.words(), words_.begin() + n);
}

}  // namespace podere::neural
