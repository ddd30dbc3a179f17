#include "podere/neural/predict.h"

#include <algorithm>
#include <numeric>

#include "podere/base/parallel.h"
#include "podere/neural/loss_kernel.h"
#include "podere/neural/tile_pass.h"
#include "podere/table/features.h"

namespace podere::neural {

std::vector<float> outputs_of_rows(const Layout& layout, const Options& options, std::span<const float> weights,
                                   const FeatureRows& rows, std::span<const std::uint32_t> picked, int n_threads) {
  const std::size_t n_outputs = layout.n_outputs();
  const std::size_t n_rows = picked.size();
  const std::size_t n_tiles = (n_rows + kTileRows - 1) / kTileRows;
  struct Worker {
    TilePass pass;
    HugeArray<float> inputs;
  };
  std::vector<Worker> workers;
  for (int t = 0; t < std::max(n_threads, 1); ++t) {
    workers.push_back({TilePass(layout, options), HugeArray<float>(kTileRows * rows.stride)});
  }
  PassWeights pass_weights(layout);
  pass_weights.set(weights, n_threads);
  std::vector<float> outputs(n_outputs * n_rows);
  parallel_for(n_threads, n_tiles, [&](std::size_t tile, int thread) {
    Worker& worker = workers[static_cast<std::size_t>(thread)];
    const std::size_t first = tile * kTileRows;
    const std::size_t n = std::min(kTileRows, n_rows - first);
    for (std::size_t i = 0; i < n; ++i) {
      rows.copy_inputs(picked[first + i], worker.inputs.data() + i * rows.stride);
    }
    const std::span<const float> of_tile = worker.pass.outputs(pass_weights, worker.inputs.data(), n);
    for (std::size_t k = 0; k < n_outputs; ++k) {
      std::copy_n(of_tile.data() + k * kTileRows, n, outputs.data() + k * n_rows + first);
    }
  });
  return outputs;
}

std::vector<float> predict_outputs(const Model& model, const table::Table& table, int n_threads) {
  // A part of the rows at a time: row by row they take as much memory as the table.
  constexpr std::size_t kPartRows = 65536;
  const auto columns = table::feature_columns(model.schema, table);
  std::vector<float> outputs(model.n_outputs() * table.n_rows());
  for (std::size_t first = 0; first < table.n_rows(); first += kPartRows) {
    const std::size_t n = std::min(kPartRows, table.n_rows() - first);
    std::vector<std::span<const float>> part;
    for (const auto& column : columns) part.push_back(column.subspan(first, n));
    const std::uint64_t begin = table.rows().begin + first;
    const FeatureRows rows =
        to_feature_rows(part, {begin, begin + n}, model.schema, model.options, model.scaling, "prediction", n_threads);
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0U);
    std::vector<float> of_part = outputs_of_rows(model.layout, model.options, model.weights, rows, all, n_threads);
    if (model.target != TargetScaling()) {
      for (float& z : of_part) z = static_cast<float>(z * model.target.scale + model.target.mean);
    }
    for (std::size_t k = 0; k < model.n_outputs(); ++k) {
      std::copy_n(of_part.data() + k * n, n, outputs.data() + k * table.n_rows() + first);
    }
  }
  return outputs;
}

std::vector<float> predictions_of(const Model& model, std::vector<float> values, int n_threads) {
  const std::size_t n_outputs = model.n_outputs();
  const std::size_t n_rows = values.size() / n_outputs;
  parallel_for_slices(n_threads, n_rows, kTileRows, [&](std::size_t begin, std::size_t end, int) {
    std::vector<float> tile(n_outputs * kTileRows);
    for (std::size_t k = 0; k < n_outputs; ++k) {
      std::copy(values.begin() + k * n_rows + begin, values.begin() + k * n_rows + end, tile.begin() + k * kTileRows);
    }
    predict_from_outputs(model.options.loss, {tile.data(), n_outputs, end - begin, nullptr, nullptr});
    for (std::size_t k = 0; k < n_outputs; ++k) {
      std::copy_n(tile.begin() + k * kTileRows, end - begin, values.begin() + k * n_rows + begin);
    }
  });
  return values;
}

std::vector<float> predict(const Model& model, const table::Table& table, int n_threads) {
  return predictions_of(model, predict_outputs(model, table, n_threads), n_threads);
}

}  // namespace podere::neural
