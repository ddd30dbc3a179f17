#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "podere/graph/window_kernel.cc"
#include "podere/graph/window_kernel.h"

#include <algorithm>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h, which includes this file again.
#include "podere/graph/vector_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace podere::graph::HWY_NAMESPACE {

/// A run of output pixels whose windows have the same taps inside the picture.
struct Run {
  const float* input;  // the first tap inside, of the first pixel
  float* output;
  Taps rows;
  Taps columns;
};

/// kPixels neighbors at once, which share the loads of weights.
template <std::size_t kPixels>
HWY_INLINE void Convolve(const Sliding& s, const Run& run) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t next = s.window.stride_w * s.in.stride;
  const std::size_t next_tap = s.window.dilation_w * s.in.stride;
  const std::size_t next_line = s.window.dilation_h * s.in.w * s.in.stride;
  const std::size_t channels = padded_channels(s.in.c);
  const bool clips = s.activation.function == Function::kClip;
  const Vector low = Constant(s.activation.a);
  const Vector high = Constant(s.activation.b);
  for (std::size_t c = 0; c < s.in.c; c += lanes) {
    Vector sums[kPixels];
    for (auto& sum : sums) sum = hn::Load(d, s.bias + c);
    const float* line = run.input + c;
    for (std::size_t ky = run.rows.begin; ky < run.rows.end; ++ky, line += next_line) {
      const float* weights = s.weights + (ky * s.window.kernel_w + run.columns.begin) * channels + c;
      const float* tap = line;
      for (std::size_t kx = run.columns.begin; kx < run.columns.end; ++kx, weights += channels, tap += next_tap) {
        const Vector weight = hn::Load(d, weights);
        for (std::size_t i = 0; i < kPixels; ++i) {
          sums[i] = vm::FusedMultiplyAdd(weight, hn::LoadU(d, tap + i * next), sums[i]);
        }
      }
    }
    for (std::size_t i = 0; i < kPixels; ++i) {
      const Vector y = clips ? Clip(sums[i], low, high) : Apply(s.activation, sums[i]);
      float* const to = run.output + i * s.out.stride + c;
      if (c + lanes <= s.in.c) {
        hn::StoreU(y, d, to);
      } else {
        StorePart(y, to, s.in.c - c);
      }
    }
  }
}

HWY_INLINE void Pool(const Sliding& s, const Run& run, float n_averaged) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t next_tap = s.window.dilation_w * s.in.stride;
  const std::size_t next_line = s.window.dilation_h * s.in.w * s.in.stride;
  const bool is_maximum = s.over == Over::kMaximum;
  const Vector divisor = Constant(n_averaged);
  for (std::size_t c = 0; c < s.in.c; c += lanes) {
    Vector y = is_maximum ? Constant(std::numeric_limits<float>::lowest()) : hn::Zero(d);
    const float* line = run.input + c;
    for (std::size_t ky = run.rows.begin; ky < run.rows.end; ++ky, line += next_line) {
      const float* tap = line;
      for (std::size_t kx = run.columns.begin; kx < run.columns.end; ++kx, tap += next_tap) {
        y = is_maximum ? hn::Max(hn::LoadU(d, tap), y) : hn::Add(y, hn::LoadU(d, tap));
      }
    }
    if (!is_maximum) y = hn::Div(y, divisor);
    y = Apply(s.activation, y);
    if (c + lanes <= s.in.c) {
      hn::StoreU(y, d, run.output + c);
    } else {
      StorePart(y, run.output + c, s.in.c - c);
    }
  }
}

/// Taps of a window within picture and padding, of which those inside the picture are averaged.
std::size_t padded_taps(std::size_t first, std::size_t n, std::size_t dilation, std::size_t padded_size) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; ++i) count += first + i * dilation < padded_size ? 1 : 0;
  return count;
}

void SlideRow(const Sliding& s, std::size_t row) {
  constexpr std::size_t kPixels = 6;
  const Window& w = s.window;
  const std::size_t n = row / s.out.h;
  const std::size_t y = row % s.out.h;
  const auto y0 = static_cast<std::ptrdiff_t>(y * w.stride_h) - static_cast<std::ptrdiff_t>(w.pad_top);
  const Taps rows = taps_inside(y0, w.kernel_h, w.dilation_h, s.in.h);
  const std::ptrdiff_t first_line = y0 + static_cast<std::ptrdiff_t>(rows.begin * w.dilation_h);
  const float* const line =
      s.input + (static_cast<std::ptrdiff_t>(n * s.in.h) + (rows.begin < rows.end ? first_line : 0)) *
                    static_cast<std::ptrdiff_t>(s.in.w * s.in.stride);
  const auto x0_of = [&](std::size_t x) {
    return static_cast<std::ptrdiff_t>(x * w.stride_w) - static_cast<std::ptrdiff_t>(w.pad_left);
  };
  const auto columns_of = [&](std::size_t x) { return taps_inside(x0_of(x), w.kernel_w, w.dilation_w, s.in.w); };
  for (std::size_t x = 0; x < s.out.w;) {
    const Taps columns = columns_of(x);
    Run run{line, s.output + (row * s.out.w + x) * s.out.stride, rows, columns};
    if (columns.begin < columns.end && rows.begin < rows.end) {
      run.input += (x0_of(x) + static_cast<std::ptrdiff_t>(columns.begin * w.dilation_w)) *
                   static_cast<std::ptrdiff_t>(s.in.stride);
    } else {
      run.rows = {0, 0};
    }
    if (s.over == Over::kWeights) {
      const bool is_inside = columns.begin == 0 && columns.end == w.kernel_w;
      std::size_t n_same = 1;
      while (is_inside && n_same < kPixels && x + n_same < s.out.w && columns_of(x + n_same).end == w.kernel_w) {
        ++n_same;
      }
      if (n_same == kPixels) {
        Convolve<kPixels>(s, run);
      } else if (n_same >= 4) {
        Convolve<4>(s, run);
        n_same = 4;
      } else if (n_same >= 2) {
        Convolve<2>(s, run);
        n_same = 2;
      } else {
        Convolve<1>(s, run);
      }
      x += n_same;
      continue;
    }
    std::size_t n_averaged = (rows.end - rows.begin) * (columns.end - columns.begin);
    if (s.over == Over::kAverageWithPadding) {
      n_averaged = padded_taps(y * w.stride_h, w.kernel_h, w.dilation_h, s.in.h + w.pad_top + w.pad_bottom) *
                   padded_taps(x * w.stride_w, w.kernel_w, w.dilation_w, s.in.w + w.pad_left + w.pad_right);
    }
    Pool(s, run, static_cast<float>(n_averaged));
    ++x;
  }
}

}  // namespace podere::graph::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace podere::graph {

HWY_EXPORT(SlideRow);

void slide(const Sliding& sliding, std::size_t row) { HWY_DYNAMIC_DISPATCH(SlideRow)(sliding, row); }

}  // namespace podere::graph
#endif
