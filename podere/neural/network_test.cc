#include "podere/neural/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace podere::neural {
namespace {

TEST(LayoutTest, HasAnOutputARowAndItsBiasLast) {
  const Layout layout(28, std::vector<int>{100, 15}, 1);
  ASSERT_EQ(layout.n_layers(), 3U);
  EXPECT_EQ(layout.layer(0).stride(), 32U);   // 28 and a bias
  EXPECT_EQ(layout.layer(1).stride(), 112U);  // 100 and a bias
  EXPECT_EQ(layout.layer(2).stride(), 16U);   // 15 and a bias
  EXPECT_EQ(layout.layer(1).offset, 3200U);
  EXPECT_EQ(layout.size(), 3200U + 15 * 112 + 16);
  EXPECT_EQ(layout.n_weights(), 29U * 100 + 101 * 15 + 16);
}

class InitialWeightsTest : public testing::TestWithParam<Initialization> {};

TEST_P(InitialWeightsTest, AreUniformWithinTheirBounds) {
  const Layout layout(50, std::vector<int>{400}, 3);
  const std::vector<float> weights = initial_weights(layout, GetParam(), 1);
  for (const Layer& layer : layout.layers()) {
    const bool has_biases = GetParam() == Initialization::kPytorch;
    const bool is_he = GetParam() == Initialization::kHe && layer.n_outputs == 400;
    const auto fan = static_cast<double>(layer.n_inputs + (is_he ? 0 : layer.n_outputs));
    const double a = has_biases ? std::sqrt(1.0 / static_cast<double>(layer.n_inputs)) : std::sqrt(6.0 / fan);
    double sum = 0;
    double largest_bias = 0;
    double largest = 0;
    for (std::size_t j = 0; j < layer.n_outputs; ++j) {
      for (std::size_t i = 0; i < layer.stride(); ++i) {
        const double w = weights[layer.offset + j * layer.stride() + i];
        if (i == layer.n_inputs) largest_bias = std::max(largest_bias, std::abs(w));
        if (i > layer.n_inputs) {
          ASSERT_EQ(w, 0);
        }
        sum += w * w;
        largest = std::max(largest, std::abs(w));
      }
    }
    const double n = static_cast<double>((layer.n_inputs + (has_biases ? 1 : 0)) * layer.n_outputs);
    EXPECT_NEAR(sum / n, a * a / 3, 0.1 * a * a / 3);
    EXPECT_LE(largest, a * (1 + 1e-6));
    EXPECT_GE(largest, 0.98 * a);
    EXPECT_EQ(largest_bias > 0, has_biases);
  }
  EXPECT_EQ(weights, initial_weights(layout, GetParam(), 1));
  EXPECT_NE(weights, initial_weights(layout, GetParam(), 2));
}

INSTANTIATE_TEST_SUITE_P(All, InitialWeightsTest,
                         testing::Values(Initialization::kGlorot, Initialization::kHe, Initialization::kPytorch),
                         [](const auto& tested) { return to_string(tested.param); });

}  // namespace
}  // namespace podere::neural
