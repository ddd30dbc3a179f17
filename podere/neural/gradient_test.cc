// The gradient of all that training makes least (weighted losses of standardized rows, units dropped, weights
// penalized) is that of finite differences of a network without any thought of speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "podere/base/hash.h"
#include "podere/neural/descent.h"
#include "podere/neural/plain_network.h"
#include "podere/neural/rows.h"
#include "podere/neural/test_training.h"
#include "podere/neural/tile_pass.h"
#include "podere/table/features.h"
#include "podere/table/standardize.h"

namespace podere::neural {
namespace {

constexpr std::size_t kGradientRows = 40;
constexpr std::uint64_t kDropoutKey = 11;
constexpr int kBits = 40;

using Kinds = std::tuple<Activation, Loss>;

class GradientTest : public testing::TestWithParam<Kinds> {
 protected:
  Options options() const {
    const auto [activation, loss] = GetParam();
    return {.loss = loss, .hidden = {9, 5}, .activation = activation, .l2 = 0.05, .dropout = 0.3};
  }
};

/// Of every unit of every hidden layer for one row, as options.h and streams.h say.
std::vector<std::vector<double>> dropout_factors(const Layout& layout, const Options& options, std::uint64_t row) {
  std::vector<std::vector<double>> factors;
  for (std::size_t l = 0; l + 1 < layout.n_layers(); ++l) {
    RandomSequence random(kDropoutKey, l, row);
    std::vector<double>& of_layer = factors.emplace_back();
    for (std::size_t j = 0; j < layout.layer(l).n_outputs; ++j) {
      of_layer.push_back(random.uniform() < options.dropout ? 0 : 1 / (1 - options.dropout));
    }
  }
  return factors;
}

/// By tiles, as training has it.
std::vector<double> fast_gradient(const Layout& layout, const Options& options, const table::Table& table,
                                  const table::Scaling& scaling, std::span<const float> weights) {
  const table::Schema& schema = table.schema();
  const FeatureRows rows =
      to_feature_rows(table::feature_columns(schema, table), table.rows(), schema, options, scaling, "training", 1);
  std::vector<std::uint64_t> numbers(kGradientRows);
  for (std::size_t i = 0; i < kGradientRows; ++i) numbers[i] = i;
  PassWeights pass_weights(layout);
  pass_weights.set(weights, 1);
  TilePass pass(layout, options);
  GradientSum sum(layout.size());
  pass.add_gradient(
      pass_weights,
      {rows.row(0), table.label().data(), table.weight().data(), kGradientRows, kDropoutKey, numbers.data()}, kBits,
      sum);
  std::vector<double> gradient;
  for (const std::int64_t g : sum.gradient)
    gradient.push_back(std::ldexp(static_cast<double>(g), -kBits) / kGradientRows);
  regularize(layout, options, weights, gradient);
  return gradient;
}

TEST_P(GradientTest, IsThatOfFiniteDifferences) {
  constexpr double kStep = 1e-6;
  const Options options = this->options();
  const table::Table table = random_table({.n_rows = kGradientRows, .loss = options.loss, .has_weight = true}, alone());
  const table::Scaling scaling = table::measure_scaling(table, alone(), 1);
  const Layout layout(table.n_features(), options.hidden, options.loss == Loss::kCrossEntropy ? 3 : 1);
  const std::vector<float> weights = initial_weights(layout, Initialization::kPytorch, 3);
  const std::vector<double> gradient = fast_gradient(layout, options, table, scaling, weights);

  PlainNetwork plain(layout, options, weights);
  const auto objective = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < kGradientRows; ++i) {
      std::vector<double> inputs;
      for (std::size_t j = 0; j < table.n_features(); ++j) {
        inputs.push_back((table.feature(j)[i] - scaling.mean[j]) / scaling.scale[j]);
      }
      plain.drop_out(dropout_factors(layout, options, i));
      sum += plain.loss(inputs, table.label()[i], table.weight()[i]) / kGradientRows;
    }
    for_each_weight(layout, [&](std::size_t k) { sum += options.l2 / 2 * plain.weights()[k] * plain.weights()[k]; });
    return sum;
  };
  double largest = 0;
  for (const Layer& layer : layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      for (std::size_t i = 0; i <= layer.n_inputs; ++i) {
        const std::size_t k = layer.offset + j * layer.stride() + i;
        const double weight = plain.weights()[k];
        plain.weights()[k] = weight + kStep;
        const double up = objective();
        plain.weights()[k] = weight - kStep;
        const double down = objective();
        plain.weights()[k] = weight;
        ASSERT_NEAR(gradient[k], (up - down) / (2 * kStep), 1e-6) << "layer " << layer.offset << ": " << j << ", " << i;
        largest = std::max(largest, std::abs(gradient[k]));
      }
    }
  }
  EXPECT_GT(largest, 0.01);
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, GradientTest,
    testing::Combine(testing::Values(Activation::kIdentity, Activation::kRelu, Activation::kSigmoid, Activation::kTanh),
                     testing::Values(Loss::kBinaryCrossEntropy, Loss::kCrossEntropy, Loss::kSquaredError)),
    [](const auto& tested) {
      std::string name = to_string(std::get<0>(tested.param)) + "_" + to_string(std::get<1>(tested.param));
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace podere::neural
