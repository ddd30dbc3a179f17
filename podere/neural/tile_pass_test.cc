#include "podere/neural/tile_pass.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "podere/base/hash.h"
#include "podere/neural/plain_network.h"

namespace podere::neural {
namespace {

constexpr int kExponent = 40;

struct Case {
  std::size_t n_features;
  std::vector<int> hidden;
  Activation activation;
  Loss loss;
  std::size_t n_outputs;
};

/// A few rows with their network.
struct Fixture {
  explicit Fixture(const Case& c, std::size_t n_rows_wanted)
      : options{.loss = c.loss, .hidden = c.hidden, .activation = c.activation},
        layout(c.n_features, c.hidden, c.n_outputs),
        weights(initial_weights(layout, Initialization::kGlorot, 3)),
        n_rows(n_rows_wanted),
        inputs(kTileRows * layout.layer(0).stride()),
        row_weight(n_rows, 1.0F) {
    const std::size_t stride = layout.layer(0).stride();
    std::fill_n(inputs.data(), inputs.size(), 0.0F);
    for (std::size_t i = 0; i < n_rows; ++i) {
      std::vector<double>& row = plain_inputs.emplace_back();
      for (std::size_t j = 0; j < c.n_features; ++j) {
        inputs[i * stride + j] = static_cast<float>(2 * uniform01(hash64(4, i, j)) - 1);
        row.push_back(inputs[i * stride + j]);
      }
      inputs[i * stride + c.n_features] = 1;
      const double u = uniform01(hash64(5, 0, i));
      label.push_back(c.loss == Loss::kSquaredError
                          ? static_cast<float>(u)
                          : static_cast<float>(std::floor(u * std::max<double>(2, static_cast<double>(c.n_outputs)))));
      row_weight[i] = static_cast<float>(0.5 + u);
    }
    // Biases too.
    for (float& w : weights) w += w != 0 ? 0.01F : 0.0F;
    for (const Layer& layer : layout.layers()) {
      for (std::size_t j = 0; j < layer.n_outputs; ++j) {
        weights[layer.offset + j * layer.stride() + layer.n_inputs] = 0.1F * static_cast<float>(j % 5) - 0.2F;
      }
    }
  }
  TileRows rows(std::uint64_t dropout_key = 0, const std::uint64_t* global_rows = nullptr) const {
    return {inputs.data(), label.data(), row_weight.data(), n_rows, dropout_key, global_rows};
  }
  Options options;
  Layout layout;
  std::vector<float> weights;
  std::size_t n_rows;
  HugeArray<float> inputs;
  std::vector<std::vector<double>> plain_inputs;
  std::vector<float> label;
  std::vector<float> row_weight;
};

class TilePassTest : public testing::TestWithParam<Case> {};

TEST_P(TilePassTest, EqualsThePlainNetwork) {
  for (const std::size_t n_rows : {1, 3, 37, 64}) {
    const Fixture f(GetParam(), n_rows);
    PassWeights weights(f.layout);
    weights.set(f.weights, 1);
    TilePass pass(f.layout, f.options);
    GradientSum sum(f.layout.size());
    pass.add_gradient(weights, f.rows(), kExponent, sum);

    PlainNetwork plain(f.layout, f.options, f.weights);
    double loss = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      loss += plain.loss(f.plain_inputs[i], f.label[i], f.row_weight[i]);
      plain.differentiate(f.plain_inputs[i], f.label[i], f.row_weight[i]);
    }
    EXPECT_NEAR(sum.loss.value(), loss, 1e-5 * static_cast<double>(n_rows));
    for (std::size_t i = 0; i < f.layout.size(); ++i) {
      ASSERT_NEAR(std::ldexp(static_cast<double>(sum.gradient[i]), -kExponent), plain.gradient()[i],
                  2e-5 * std::max(1.0, std::abs(plain.gradient()[i])))
          << i;
    }
    const std::span<float> outputs = pass.outputs(weights, f.inputs.data(), n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
      const std::vector<double> expected = plain.outputs(f.plain_inputs[i]);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        ASSERT_NEAR(outputs[k * kTileRows + i], expected[k], 2e-5 * std::max(1.0, std::abs(expected[k])));
      }
    }
  }
}

TEST_P(TilePassTest, PlainGradientsAreThoseOfFiniteDifferences) {
  constexpr double kStep = 1e-6;
  const Fixture f(GetParam(), 3);
  PlainNetwork plain(f.layout, f.options, f.weights);
  const auto loss = [&] {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += plain.loss(f.plain_inputs[i], f.label[i], f.row_weight[i]);
    return sum;
  };
  for (std::size_t i = 0; i < 3; ++i) plain.differentiate(f.plain_inputs[i], f.label[i], f.row_weight[i]);
  for (std::size_t i = 0; i < f.layout.size(); i += 1 + f.layout.size() / 100) {
    const double weight = plain.weights()[i];
    plain.weights()[i] = weight + kStep;
    const double up = loss();
    plain.weights()[i] = weight - kStep;
    const double down = loss();
    plain.weights()[i] = weight;
    EXPECT_NEAR(plain.gradient()[i], (up - down) / (2 * kStep), 1e-5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TilePassTest,
                         testing::Values(Case{28, {100}, Activation::kRelu, Loss::kBinaryCrossEntropy, 1},
                                         Case{28, {30, 30}, Activation::kSigmoid, Loss::kCrossEntropy, 2},
                                         Case{20, {16, 7}, Activation::kTanh, Loss::kCrossEntropy, 10},
                                         Case{1, {1}, Activation::kTanh, Loss::kSquaredError, 1},
                                         Case{3, {}, Activation::kIdentity, Loss::kBinaryCrossEntropy, 1},
                                         Case{15, {31, 1, 33}, Activation::kTanh, Loss::kSquaredError, 1},
                                         Case{5, {2, 3}, Activation::kIdentity, Loss::kCrossEntropy, 4},
                                         Case{300, {520}, Activation::kRelu, Loss::kCrossEntropy, 5}));

TEST(TilePassTest, WhatLiesBeyondTheWeightsHasNoGradient) {
  const Fixture f({28, {30, 30}, Activation::kSigmoid, Loss::kCrossEntropy, 10}, 64);
  PassWeights weights(f.layout);
  weights.set(f.weights, 1);
  TilePass pass(f.layout, f.options);
  GradientSum sum(f.layout.size());
  pass.add_gradient(weights, f.rows(), kExponent, sum);
  for (const Layer& layer : f.layout.layers()) {
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      for (std::size_t i = layer.n_inputs + 1; i < layer.stride(); ++i) {
        ASSERT_EQ(sum.gradient[layer.offset + j * layer.stride() + i], 0);
      }
    }
  }
}

TEST(TilePassTest, DropoutLeavesOutTheShareAskedForAndKeepsTheMean) {
  Fixture f({4, {200}, Activation::kIdentity, Loss::kSquaredError, 1}, 64);
  f.options.dropout = 0.25;
  const std::vector<float> zero(f.n_rows, 0.0F);
  std::vector<std::uint64_t> rows(64);
  for (std::size_t i = 0; i < 64; ++i) {
    rows[i] = 1000 + i;
    // The same inputs in all rows, so that rows differ by what is left out alone.
    std::copy_n(f.inputs.data(), f.layout.layer(0).stride(), f.inputs.data() + i * f.layout.layer(0).stride());
  }
  // The last layer's derivatives by weight j are the sum over rows of z * activation j: with labels far away, z - y is
  // nearly the same for all rows, so this counts how often unit j was kept.
  std::fill(f.label.begin(), f.label.end(), 1e6F);
  std::fill(f.row_weight.begin(), f.row_weight.end(), 1e-6F);
  PassWeights weights(f.layout);
  weights.set(f.weights, 1);
  TilePass pass(f.layout, f.options);
  GradientSum dropped(f.layout.size());
  pass.add_gradient(weights, f.rows(7, rows.data()), kExponent, dropped);
  GradientSum again(f.layout.size());
  pass.add_gradient(weights, f.rows(7, rows.data()), kExponent, again);
  GradientSum other(f.layout.size());
  pass.add_gradient(weights, f.rows(8, rows.data()), kExponent, other);
  EXPECT_EQ(dropped.gradient, again.gradient);
  EXPECT_NE(dropped.gradient, other.gradient);

  f.options.dropout = 0;
  TilePass whole(f.layout, f.options);
  GradientSum all(f.layout.size());
  whole.add_gradient(weights, f.rows(), kExponent, all);
  const Layer& last = f.layout.layer(1);
  double kept = 0;
  for (std::size_t j = 0; j < last.n_inputs; ++j) {
    kept += static_cast<double>(dropped.gradient[last.offset + j]) / static_cast<double>(all.gradient[last.offset + j]);
  }
  EXPECT_NEAR(kept / 200, 1, 0.03);  // each is 0 or 4/3 with the mean 1: 12,800 draws
}

}  // namespace
}  // namespace podere::neural
