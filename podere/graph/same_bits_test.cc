// The same bits for any batch, number of threads and instruction set.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "hwy/targets.h"
#include "podere/base/sha256.h"
#include "podere/graph/test_graph.h"

namespace podere::graph {
namespace {

constexpr std::int64_t kSide = 19;  // odd, so that tiles and vectors do not fit

/// A residual block, branches that are concatenated, depthwise and grouped convolutions, pools, a gate, a head.
TestGraph branched() {
  TestGraph g({-1, 3, kSide, kSide});
  g.convolution("x", "a", 3, 40, 3, 2);
  g.node("Relu", {"a"}, "a1");
  g.convolution("a1", "b", 40, 40, 3, 1);
  g.node("Relu", {"b"}, "b1");
  g.convolution("b1", "c", 40, 40, 1, 1);
  g.node("Add", {"c", "a1"}, "d");
  g.node("Relu", {"d"}, "d1");
  g.convolution("d1", "e", 40, 40, 5, 1, 40);
  g.node("Sigmoid", {"e"}, "e1");
  g.node("Mul", {"e", "e1"}, "e2");
  g.convolution("d1", "f", 40, 24, 3, 1, 4);
  g.node("HardSwish", {"f"}, "f1");
  auto& pool = g.node("MaxPool", {"d1"}, "g");
  TestGraph::set(pool, "kernel_shape", {3, 3});
  TestGraph::set(pool, "pads", {1, 1, 1, 1});
  TestGraph::set(g.node("Concat", {"e2", "f1", "g"}, "h"), "axis", 1);
  g.node("GlobalAveragePool", {"h"}, "s");
  g.convolution("s", "t", 104, 104, 1, 1);
  g.node("Sigmoid", {"t"}, "t1");
  g.node("Mul", {"h", "t1"}, "u");
  g.convolution("u", "v", 104, 300, 3, 2);
  g.node("Gelu", {"v"}, "v1");
  g.node("GlobalAveragePool", {"v1"}, "w");
  TestGraph::set(g.node("Flatten", {"w"}, "w1"), "axis", 1);
  g.weight("head", {300, 11}, random_numbers(3300, 5));
  g.node("MatMul", {"w1", "head"}, "z");
  g.node("Softmax", {"z"}, "y");
  return g;
}

std::string bits_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

constexpr std::size_t kPicture = 3 * kSide * kSide;

std::vector<float> pictures(std::size_t n) { return random_numbers(n * kPicture, 1); }

std::string result_bits(std::int64_t n, int n_threads, const std::string& tensor = "y") {
  PlanOptions options;
  options.input = {n, 3, kSide, kSide};
  options.outputs = {tensor};
  return bits_of(result_of(branched().network(), options, pictures(static_cast<std::size_t>(n)), n_threads));
}

TEST(GraphBits, AreTheSameForAnyBatchAndThreads) {
  for (const char* const tensor : {"y", "h", "d1"}) {
    const std::string all = result_bits(8, 1, tensor);
    const std::size_t each = all.size() / 8;
    for (const std::int64_t n : {1, 2, 5}) {
      for (const int n_threads : {1, 2, 3}) {
        EXPECT_EQ(result_bits(n, n_threads, tensor), all.substr(0, static_cast<std::size_t>(n) * each))
            << tensor << ", " << n << " pictures, " << n_threads << " threads";
      }
    }
  }
}

TEST(GraphBits, AreTheSameOnAllMachines) {
  const std::string expected = result_bits(2, 1);
  int n_others = 0;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    EXPECT_EQ(result_bits(2, 1), expected) << hwy::TargetName(target);
    hwy::SetSupportedTargetsForTest(0);
    ++n_others;
  }
  EXPECT_GT(n_others, 0);
}

TEST(GraphBits, AreThoseOfTheirVersion) {
  EXPECT_EQ(kBitsVersion, 1);
  EXPECT_EQ(sha256_of(result_bits(2, 1)), "7617d62a45e5041624ba09c30e7815bce1cff99188ec101adbc5c3c184b35c8c")
      << "the kernels give other bits: raise kBitsVersion";
}

TEST(GraphBits, OfAConvolutionAreThoseOfOneChainOfFusedProducts) {
  TestGraph g({1, 37, 9, 7});
  const std::vector<float> weights = random_numbers(45 * 37 * 9, 3);
  g.weight("w", {45, 37, 3, 3}, weights);
  const std::vector<float> bias = random_numbers(45, 4);
  g.weight("b", {45}, bias);
  auto& conv = g.node("Conv", {"x", "w", "b"}, "y");
  TestGraph::set(conv, "strides", {2, 1});
  TestGraph::set(conv, "pads", {1, 0, 2, 1});
  TestGraph::set(conv, "dilations", {1, 2});
  const std::vector<float> x = random_numbers(37 * 9 * 7, 5);
  PlanOptions options;
  options.input = {1, 37, 9, 7};
  const std::vector<float> y = result_of(g.network(), options, x);
  constexpr int kHeight = 5;
  constexpr int kWidth = 4;
  ASSERT_EQ(y.size(), 45U * kHeight * kWidth);
  for (int o = 0; o < 45; ++o) {
    for (int oy = 0; oy < kHeight; ++oy) {
      for (int ox = 0; ox < kWidth; ++ox) {
        float sum = bias[static_cast<std::size_t>(o)];
        for (int ky = 0; ky < 3; ++ky) {
          for (int kx = 0; kx < 3; ++kx) {
            const int iy = oy * 2 - 1 + ky;
            const int ix = ox + 2 * kx;
            for (int c = 0; c < 37; ++c) {
              const bool is_inside = iy >= 0 && iy < 9 && ix < 7;
              const float value = is_inside ? x[static_cast<std::size_t>((c * 9 + iy) * 7 + ix)] : 0.0F;
              sum = std::fma(value, weights[static_cast<std::size_t>(((o * 37 + c) * 3 + ky) * 3 + kx)], sum);
            }
          }
        }
        ASSERT_EQ(y[static_cast<std::size_t>((o * kHeight + oy) * kWidth + ox)], sum) << o << "," << oy << "," << ox;
      }
    }
  }
}

TEST(GraphBits, OfAJoinedStepAreNearThoseOfTheOperatorsAlone) {
  // As outputs of their own, tensors keep operators from being joined.
  PlanOptions options;
  options.input = {2, 3, kSide, kSide};
  options.outputs = {"y"};
  const Network network = branched().network();
  const std::vector<float> joined = result_of(network, options, pictures(2));
  options.outputs = {"y", "a.sums", "a",      "b.sums", "c.sums", "c",      "d", "e.sums",
                     "e", "e1",     "f.sums", "f",      "g",      "t.sums", "v"};
  const std::vector<float> alone = result_of(network, options, pictures(2));
  for (std::size_t i = 0; i < joined.size(); ++i) EXPECT_NEAR(joined[i], alone[i], 1e-5);
}

TEST(GraphSameBits, OfOneChannelThatIsConcatenatedTheMeanIsThatOfTheConcatenation) {
  TestGraph g({-1, 3, kSide, kSide});
  g.convolution("x", "a", 3, 1, 3, 1);
  g.convolution("x", "b", 3, 2, 3, 1);
  TestGraph::set(g.node("Concat", {"a", "b"}, "c"), "axis", 1);
  g.node("GlobalAveragePool", {"a"}, "mean_of_a");
  g.node("GlobalAveragePool", {"c"}, "y");
  PlanOptions options;
  options.input = {1, 3, kSide, kSide};
  options.outputs = {"mean_of_a", "y"};
  const Plan plan(g.network(), options);
  Workspace workspace(plan, 1);
  std::vector<float> of_a(1);
  std::vector<float> of_c(3);
  const std::vector<std::span<float>> outputs = {of_a, of_c};
  run(plan, workspace, pictures(1), outputs);
  EXPECT_NEAR(of_a[0], of_c[0], 1e-6);
}

}  // namespace
}  // namespace podere::graph
