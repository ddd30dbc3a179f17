#include "podere/neural/tile_pass.h"

#include <algorithm>

#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/neural/activation_kernel.h"
#include "podere/neural/loss_kernel.h"
#include "podere/neural/multiply_kernel.h"
#include "podere/neural/sum_kernel.h"

namespace podere::neural {
namespace {

/// A last layer of at most so many outputs is made of dot products: vectors of outputs would be mostly empty.
constexpr std::size_t kFewOutputs = 4;
/// Floats of a gradient that are made before they are added up: they stay in the nearest cache.
constexpr std::size_t kGradientFloats = 4096;

bool is_narrow(const Layout& layout, std::size_t l) {
  return l + 1 == layout.n_layers() && layout.layer(l).n_outputs <= kFewOutputs;
}

std::size_t gradient_rows(const Layer& layer) { return std::max<std::size_t>(8, kGradientFloats / layer.stride()); }

}  // namespace

PassWeights::PassWeights(const Layout& layout) : layout_(layout), by_output_(layout.size()) {
  std::size_t size = 0;
  for (std::size_t l = 0; l < layout.n_layers(); ++l) {
    const Layer& layer = layout.layer(l);
    by_input_offsets_.push_back(size);
    if (!is_narrow(layout, l)) size += (layer.n_inputs + 1) * round_up(layer.n_outputs, kLanes);
  }
  by_input_ = HugeArray<float>(size);
  std::fill_n(by_input_.data(), size, 0.0F);
}

void PassWeights::set(std::span<const float> weights, int n_threads) {
  constexpr std::size_t kGrain = 64;  // inputs
  std::ranges::copy(weights, by_output_.data());
  for (std::size_t l = 0; l < layout_.n_layers(); ++l) {
    if (is_narrow(layout_, l)) continue;
    const Layer& layer = layout_.layer(l);
    const std::size_t to_stride = round_up(layer.n_outputs, kLanes);
    float* const to = by_input_.data() + by_input_offsets_[l];
    const float* const from = by_output(l);
    parallel_for_slices(n_threads, layer.n_inputs + 1, kGrain, [&](std::size_t begin, std::size_t end, int) {
      // By squares that stay in the nearest cache.
      for (std::size_t j = 0; j < layer.n_outputs; j += kLanes) {
        const std::size_t j_end = std::min(layer.n_outputs, j + kLanes);
        for (std::size_t i = begin; i < end; ++i) {
          for (std::size_t k = j; k < j_end; ++k) to[i * to_stride + k] = from[k * layer.stride() + i];
        }
      }
    });
  }
}

TilePass::TilePass(const Layout& layout, const Options& options)
    : layout_(layout), options_(options), outputs_(round_up(layout.n_outputs(), kLanes) * kTileRows) {
  std::size_t gradient_size = 0;
  for (std::size_t l = 0; l < layout.n_layers(); ++l) {
    const Layer& layer = layout.layer(l);
    gradient_size = std::max(gradient_size, std::min(gradient_rows(layer), layer.n_outputs) * layer.stride());
    if (l + 1 == layout.n_layers()) break;
    const std::size_t size = kTileRows * layer.output_stride();
    activations_.emplace_back(size);
    derivatives_.emplace_back(size);
    if (options.dropout > 0) {
      factors_.emplace_back(size);
      dropped_.emplace_back(size);
    }
  }
  gradient_ = HugeArray<float>(gradient_size);
  sums_ = HugeArray<float>(kTileRows * round_up(layout.n_outputs(), kLanes));
}

void TilePass::drop_out(const TileRows& rows, std::size_t l) {
  const Layer& layer = layout_.layer(l);
  const std::size_t stride = layer.output_stride();
  const auto kept = static_cast<float>(1 / (1 - options_.dropout));
  for (std::size_t i = 0; i < rows.n_rows; ++i) {
    RandomSequence random(rows.dropout_key, l, rows.global_rows[i]);
    const float* const from = activations_[l].data() + i * stride;
    float* const factors = factors_[l].data() + i * stride;
    float* const to = dropped_[l].data() + i * stride;
    for (std::size_t j = 0; j < layer.n_outputs; ++j) factors[j] = random.uniform() < options_.dropout ? 0 : kept;
    for (std::size_t j = layer.n_outputs; j < stride; ++j) factors[j] = 1;  // the bias stays
    for (std::size_t j = 0; j < stride; ++j) to[j] = from[j] * factors[j];
  }
}

void TilePass::forward(const PassWeights& weights, const TileRows& rows, bool drops) {
  const float* inputs = rows.inputs;
  for (std::size_t l = 0; l + 1 < layout_.n_layers(); ++l) {
    const Layer& layer = layout_.layer(l);
    const std::size_t n_columns = round_up(layer.n_outputs, kLanes);
    multiply({.a = inputs,
              .a_row = layer.stride(),
              .a_step = 1,
              .b = weights.by_input(l),
              .b_stride = n_columns,
              .c = activations_[l].data(),
              .c_stride = layer.output_stride(),
              .m = rows.n_rows,
              .k = layer.n_inputs + 1,
              .n = n_columns});
    activate(options_.activation, {activations_[l].data(), rows.n_rows, layer.n_outputs, layer.output_stride()});
    if (drops) drop_out(rows, l);
    inputs = drops ? dropped_[l].data() : activations_[l].data();
  }
  const std::size_t l = layout_.n_layers() - 1;
  const Layer& last = layout_.layer(l);
  if (is_narrow(layout_, l)) {
    return multiply_rows({.a = inputs,
                          .b = weights.by_output(l),
                          .stride = last.stride(),
                          .c = outputs_.data(),
                          .c_stride = kTileRows,
                          .m = rows.n_rows,
                          .n = last.n_outputs});
  }
  const std::size_t n_columns = round_up(last.n_outputs, kLanes);
  multiply({.a = inputs,
            .a_row = last.stride(),
            .a_step = 1,
            .b = weights.by_input(l),
            .b_stride = n_columns,
            .c = sums_.data(),
            .c_stride = n_columns,
            .m = rows.n_rows,
            .k = last.n_inputs + 1,
            .n = n_columns});
  for (std::size_t k = 0; k < last.n_outputs; ++k) {
    for (std::size_t i = 0; i < rows.n_rows; ++i) outputs_[k * kTileRows + i] = sums_[i * n_columns + k];
  }
}

void TilePass::add_gradient(const PassWeights& weights, const TileRows& rows, int exponent, GradientSum& sum) {
  const bool drops = options_.dropout > 0;
  const auto fetch = [&] {
    if (rows.next != nullptr) rows.next->fetch_part(2 * layout_.n_layers());
  };
  fetch();
  forward(weights, rows, drops);
  sum.loss.add(
      differentiate_loss(options_.loss, {outputs_.data(), layout_.n_outputs(), rows.n_rows, rows.label, rows.weight}));

  // Derivatives by the sums of layer l: element (row, output) is derivatives[row * by_row + output * by_output].
  const float* derivatives = outputs_.data();
  std::size_t by_row = 1;
  std::size_t by_output = kTileRows;
  for (std::size_t l = layout_.n_layers(); l-- > 0;) {
    const Layer& layer = layout_.layer(l);
    const float* const inputs = l == 0 ? rows.inputs : drops ? dropped_[l - 1].data() : activations_[l - 1].data();
    const std::size_t n_at_once = gradient_rows(layer);
    for (std::size_t j = 0; j < layer.n_outputs; j += n_at_once) {
      const std::size_t n = std::min(n_at_once, layer.n_outputs - j);
      multiply({.a = derivatives + j * by_output,
                .a_row = by_output,
                .a_step = by_row,
                .b = inputs,
                .b_stride = layer.stride(),
                .c = gradient_.data(),
                .c_stride = layer.stride(),
                .m = n,
                .k = rows.n_rows,
                .n = layer.stride()});
      fetch();
      const std::span<std::int64_t> to(layer.of(sum.gradient.data()) + j * layer.stride(), n * layer.stride());
      sum.largest = std::max(sum.largest, add_scaled(gradient_.span().first(to.size()), exponent, to));
    }
    if (l == 0) break;
    multiply({.a = derivatives,
              .a_row = by_row,
              .a_step = by_output,
              .b = weights.by_output(l),
              .b_stride = layer.stride(),
              .c = derivatives_[l - 1].data(),
              .c_stride = layer.stride(),
              .m = rows.n_rows,
              .k = layer.n_outputs,
              .n = layer.stride()});
    fetch();
    if (drops) {
      for (std::size_t i = 0; i < rows.n_rows * layer.stride(); ++i) derivatives_[l - 1][i] *= factors_[l - 1][i];
    }
    multiply_by_slope(options_.activation, {activations_[l - 1].data(), rows.n_rows, layer.n_inputs, layer.stride()},
                      derivatives_[l - 1].data());
    derivatives = derivatives_[l - 1].data();
    by_row = layer.stride();
    by_output = 1;
  }
}

std::span<float> TilePass::outputs(const PassWeights& weights, const float* inputs, std::size_t n_rows) {
  forward(weights, {inputs, nullptr, nullptr, n_rows, 0, nullptr}, false);
  return outputs_.span().first(layout_.n_outputs() * kTileRows);
}

}  // namespace podere::neural
