#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/graph/product_kernel.cc"
#include "podere/graph/product_kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h, which includes this file again.
#include "podere/base/parallel.h"
#include "podere/graph/vector_functions-inl.h"

// How a block of a product goes: the windows of up to kBlockPixels pixels are copied, kDepth of their numbers at a
// time, to rows that lie kRow floats apart; then for each panel of weights, and each tile of as many rows as sums fit
// into registers, a chain of fused multiply-adds. Sums that are not complete are stored, and taken up with the next
// kDepth.
#ifndef PODERE_GRAPH_PRODUCT_BLOCKS
#define PODERE_GRAPH_PRODUCT_BLOCKS
namespace podere::graph {
constexpr std::size_t kDepth = 512;        // of a panel: 64 KB
constexpr std::size_t kRow = kDepth + 16;  // copies of whole vectors write beyond the end
constexpr std::size_t kBlockPixels = 112;  // eight tiles of 14: 240 KB of windows
}  // namespace podere::graph
#endif

HWY_BEFORE_NAMESPACE();
namespace podere::graph::HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4
constexpr std::size_t kMaxRows = 6;  // 6 x 2 sums, 2 of weights, 1 of input: of 16 registers
#else
constexpr std::size_t kMaxRows = 14;  // of 32
#endif

/// n floats, and up to a vector beyond them.
HWY_INLINE void CopyRun(const float* from, float* to, std::size_t n) {
  const Floats d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
}
HWY_INLINE void ZeroRun(float* to, std::size_t n) {
  const Floats d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) hn::StoreU(hn::Zero(d), d, to + i);
}

/// Numbers [begin, end) of the window of one pixel, to `to`.
class WindowCopy {
 public:
  WindowCopy(const Product& p, std::size_t group)
      : p_(p),
        channels_(p.in.c / p.n_groups),
        input_(p.input + group * channels_),
        is_point_(p.window.n_taps() == 1 && p.window.pad_top == 0 && p.window.pad_left == 0),
        taps_are_a_run_(channels_ == p.in.stride && p.window.dilation_w == 1) {}

  void Copy(std::size_t n, std::size_t y, std::size_t x, std::size_t begin, std::size_t end, float* to) const {
    const Window& w = p_.window;
    if (is_point_) {
      const std::size_t pixel = (n * p_.in.h + y * w.stride_h) * p_.in.w + x * w.stride_w;
      CopyRun(input_ + pixel * p_.in.stride + begin, to, end - begin);
      return;
    }
    const std::size_t row_size = w.kernel_w * channels_;
    const auto x0 = static_cast<std::ptrdiff_t>(x * w.stride_w) - static_cast<std::ptrdiff_t>(w.pad_left);
    const auto y0 = static_cast<std::ptrdiff_t>(y * w.stride_h) - static_cast<std::ptrdiff_t>(w.pad_top);
    const Taps columns = taps_inside(x0, w.kernel_w, w.dilation_w, p_.in.w);
    for (std::size_t ky = begin / row_size; ky * row_size < end; ++ky) {
      const std::size_t from = std::max(begin, ky * row_size);
      const std::size_t until = std::min(end, (ky + 1) * row_size);
      float* const row = to + (from - begin);
      const std::ptrdiff_t iy = y0 + static_cast<std::ptrdiff_t>(ky * w.dilation_h);
      if (iy < 0 || iy >= static_cast<std::ptrdiff_t>(p_.in.h)) {
        ZeroRun(row, until - from);
        continue;
      }
      const float* const line = input_ + (n * p_.in.h + static_cast<std::size_t>(iy)) * p_.in.w * p_.in.stride;
      CopyLine(line, x0, columns, from - ky * row_size, until - ky * row_size, row);
    }
  }

 private:
  /// Numbers [begin, end) of one kernel row.
  HWY_INLINE void CopyLine(const float* line, std::ptrdiff_t x0, Taps inside, std::size_t begin, std::size_t end,
                           float* to) const {
    const auto stride = static_cast<std::ptrdiff_t>(p_.in.stride);
    if (taps_are_a_run_) {
      const std::size_t from = std::clamp(inside.begin * channels_, begin, end);
      const std::size_t until = std::clamp(inside.end * channels_, from, end);
      ZeroRun(to, from - begin);
      if (from < until)
        CopyRun(line + x0 * stride + static_cast<std::ptrdiff_t>(from), to + (from - begin), until - from);
      ZeroRun(to + (until - begin), end - until);
      return;
    }
    for (std::size_t kx = begin / channels_; kx * channels_ < end; ++kx) {
      const std::size_t from = std::max(begin, kx * channels_);
      const std::size_t until = std::min(end, (kx + 1) * channels_);
      if (kx < inside.begin || kx >= inside.end) {
        ZeroRun(to + (from - begin), until - from);
      } else {
        const std::ptrdiff_t x = x0 + static_cast<std::ptrdiff_t>(kx * p_.window.dilation_w);
        CopyRun(line + x * stride + static_cast<std::ptrdiff_t>(from - kx * channels_), to + (from - begin),
                until - from);
      }
    }
  }

  const Product& p_;
  std::size_t channels_;
  const float* input_;
  bool is_point_;
  bool taps_are_a_run_;
};

/// A tile: rows of windows times columns of a panel.
struct Tile {
  const float* windows;
  const float* weights;
  std::size_t weights_step;
  std::size_t depth;
  const float* bias;  // where sums begin; none: they continue
  float* sums;
  std::size_t stride;
  float low;
  float high;
};

template <std::size_t kRows, std::size_t kVectors>
HWY_NOINLINE void Multiply(const Tile& t) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Vector sums[kRows][kVectors];
  if (t.bias != nullptr) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Vector bias = hn::LoadU(d, t.bias + v * lanes);
      for (std::size_t r = 0; r < kRows; ++r) sums[r][v] = bias;
    }
  } else {
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = hn::LoadU(d, t.sums + r * t.stride + v * lanes);
    }
  }
  const float* windows = t.windows;
  const float* weights = t.weights;
  for (std::size_t s = 0; s < t.depth; ++s, ++windows, weights += t.weights_step) {
    Vector columns[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) columns[v] = hn::Load(d, weights + v * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector value = hn::Set(d, windows[r * kRow]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] = vm::FusedMultiplyAdd(value, columns[v], sums[r][v]);
    }
  }
  const Vector low = Constant(t.low);
  const Vector high = Constant(t.high);
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      hn::StoreU(Clip(sums[r][v], low, high), d, t.sums + r * t.stride + v * lanes);
    }
  }
}

using MultiplyTile = void (*)(const Tile&);
template <std::size_t kVectors, std::size_t... kRows>
constexpr std::array<MultiplyTile, sizeof...(kRows)> tiles_of(std::index_sequence<kRows...>) {
  return {Multiply<kRows + 1, kVectors>...};
}

/// The tile through all columns of the panel.
HWY_INLINE void MultiplyPanel(Tile t, std::size_t n_rows, std::size_t panel_width) {
  static constexpr auto kOne = tiles_of<1>(std::make_index_sequence<kMaxRows>());
  static constexpr auto kTwo = tiles_of<2>(std::make_index_sequence<kMaxRows>());
  const std::size_t lanes = hn::Lanes(Floats());
  const float* const bias = t.bias;
  float* const sums = t.sums;
  const float* const weights = t.weights;
  for (std::size_t j = 0; j < panel_width;) {
    t.weights = weights + j;
    t.sums = sums + j;
    t.bias = bias == nullptr ? nullptr : bias + j;
    if (panel_width - j >= 2 * lanes) {
      kTwo[n_rows - 1](t);
      j += 2 * lanes;
    } else {
      kOne[n_rows - 1](t);
      j += lanes;
    }
  }
}

/// What is left to do with complete sums in [n_rows][stride].
HWY_INLINE void Finish(const Product& p, const float* sums, std::size_t stride, std::size_t first_pixel,
                       std::size_t n_rows, std::size_t channel, std::size_t n_channels) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t pixel = first_pixel + r;
    const float* const from = sums + r * stride;
    float* const to = p.output + pixel * p.out.stride + channel;
    if (p.residual == nullptr) {
      ApplyRun(p.activation, from, to, n_channels);
      continue;
    }
    const float* const residual = p.residual + pixel * p.residual_stride + channel;
    const auto sum = [&](std::size_t i) { return hn::Add(hn::LoadU(d, from + i), hn::LoadU(d, residual + i)); };
    std::size_t i = 0;
    if (p.activation.function == Function::kClip) {
      const Vector low = Constant(p.activation.a);
      const Vector high = Constant(p.activation.b);
      for (; i + lanes <= n_channels; i += lanes) hn::StoreU(Clip(sum(i), low, high), d, to + i);
    } else {
      for (; i + lanes <= n_channels; i += lanes) hn::StoreU(Apply(p.activation, sum(i)), d, to + i);
    }
    if (i < n_channels) StorePart(Apply(p.activation, sum(i)), to + i, n_channels - i);
  }
}

void MultiplyTask(const Product& p, const ProductTask& task, float* scratch) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float* const windows = scratch;
  float* const ragged = scratch + kBlockPixels * kRow;  // sums of the last panel where it is not full
  const std::size_t depth = p.depth();
  const std::size_t n_channels = p.out.c / p.n_groups;
  const std::size_t n_pixels = task.end_pixel - task.first_pixel;
  const std::size_t n_tiles = (n_pixels + kMaxRows - 1) / kMaxRows;
  const std::size_t n_slices = std::max<std::size_t>((depth + kDepth - 1) / kDepth, 1);
  const float* const weights = p.weights + task.group * packed_channels(n_channels) * depth;
  const float* const bias = p.bias + task.group * packed_channels(n_channels);
  const bool clips_at_once = p.residual == nullptr && p.activation.function == Function::kClip;
  const WindowCopy copy(p, task.group);
  for (std::size_t slice = 0; slice < n_slices; ++slice) {
    const Slice s = slice_of(depth, slice, n_slices);
    std::size_t x = task.first_pixel % p.out.w;
    std::size_t y = task.first_pixel / p.out.w % p.out.h;
    std::size_t n = task.first_pixel / p.out.w / p.out.h;
    for (std::size_t i = 0; i < n_pixels; ++i) {
      copy.Copy(n, y, x, s.begin, s.end, windows + i * kRow);
      if (++x == p.out.w) {
        x = 0;
        if (++y == p.out.h) {
          y = 0;
          ++n;
        }
      }
    }
    const bool is_last = slice + 1 == n_slices;
    for (std::size_t panel = task.first_panel; panel < task.end_panel; ++panel) {
      const std::size_t first_channel = panel * kPanel;
      const std::size_t width = std::min(kPanel, packed_channels(n_channels) - first_channel);
      const std::size_t used = std::min(width, n_channels - first_channel);
      const std::size_t channel = task.group * n_channels + first_channel;
      const bool is_ragged = used < width;
      for (std::size_t i = 0; i < n_tiles; ++i) {
        const Slice rows = slice_of(n_pixels, i, n_tiles);
        const std::size_t first = task.first_pixel + rows.begin;
        Tile tile;
        tile.windows = windows + rows.begin * kRow;
        tile.weights = weights + first_channel * depth + s.begin * width;
        tile.weights_step = width;
        tile.depth = s.end - s.begin;
        tile.bias = slice == 0 ? bias + first_channel : nullptr;
        tile.sums = is_ragged ? ragged + rows.begin * kPanel : p.output + first * p.out.stride + channel;
        tile.stride = is_ragged ? kPanel : p.out.stride;
        tile.low = is_last && clips_at_once ? p.activation.a : -kInfinity;
        tile.high = is_last && clips_at_once ? p.activation.b : kInfinity;
        MultiplyPanel(tile, rows.end - rows.begin, width);
        if (is_last && (is_ragged || !clips_at_once)) {
          Finish(p, tile.sums, tile.stride, first, rows.end - rows.begin, channel, used);
        }
      }
    }
  }
}

}  // namespace podere::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::graph {

HWY_EXPORT(MultiplyTask);

std::size_t packed_channels(std::size_t n_channels) {
  return (n_channels + kPanel / 2 - 1) / (kPanel / 2) * (kPanel / 2);
}

void pack(std::span<const float> weights, std::size_t depth, std::size_t n_channels, float* packed) {
  for (std::size_t first = 0; first < n_channels; first += kPanel) {
    const std::size_t width = std::min(kPanel, packed_channels(n_channels) - first);
    const std::size_t used = std::min(width, n_channels - first);
    float* const panel = packed + first * depth;
    for (std::size_t s = 0; s < depth; ++s) {
      std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(s * n_channels + first), used, panel + s * width);
      std::fill_n(panel + s * width + used, width - used, 0.0F);
    }
  }
}

ProductTasks::ProductTasks(const Product& product, int n_threads) : n_groups_(product.n_groups) {
  const std::size_t n_panels = (product.out.c / product.n_groups + kPanel - 1) / kPanel;
  n_blocks_ = (product.out.n_pixels() + kBlockPixels - 1) / kBlockPixels;
  n_parts_ = 1;
  if (n_threads > 1) {  // four tasks a thread, so that none waits long for another
    const std::size_t wanted = 4 * static_cast<std::size_t>(n_threads);
    const std::size_t n_tasks = n_blocks_ * n_groups_;
    n_parts_ = std::min(n_panels, (wanted + n_tasks - 1) / n_tasks);
  }
}

ProductTask::ProductTask(const Product& product, const ProductTasks& tasks, std::size_t task) {
  const std::size_t n_panels = (product.out.c / product.n_groups + kPanel - 1) / kPanel;
  group = task / (tasks.n_blocks_ * tasks.n_parts_);
  const Slice pixels = slice_of(product.out.n_pixels(), task / tasks.n_parts_ % tasks.n_blocks_, tasks.n_blocks_);
  const Slice panels = slice_of(n_panels, task % tasks.n_parts_, tasks.n_parts_);
  first_pixel = pixels.begin;
  end_pixel = pixels.end;
  first_panel = panels.begin;
  end_panel = panels.end;
}

std::size_t product_scratch() { return kBlockPixels * (kRow + kPanel); }

void multiply(const Product& product, const ProductTasks& tasks, std::size_t task, float* scratch) {
  HWY_DYNAMIC_DISPATCH(MultiplyTask)(product, ProductTask(product, tasks, task), scratch);
}

}  // namespace podere::graph
#endif
