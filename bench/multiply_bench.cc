// multiply_bench [--seconds S]: products of a tile of rows with a layer's weights, forward and for the gradient, by
// podere/neural's kernel and by the libraries that were there when this was built (OpenBLAS, LIBXSMM), in turns on one
// thread. One line of JSON a shape: GFLOP/s of each, medians of 5, once the answers agree.
//
// Example: build/release/bench/multiply_bench --seconds 0.2
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/hash.h"
#include "podere/base/huge_array.h"
#include "podere/neural/multiply_kernel.h"
#include "podere/neural/network.h"

#ifdef PODERE_BENCH_OPENBLAS
#include <cblas.h>
#endif
#ifdef PODERE_BENCH_XSMM
#include <libxsmm.h>
#endif

namespace {

using podere::HugeArray;
using podere::neural::kLanes;
using podere::neural::kTileRows;
using podere::neural::Product;
using podere::neural::round_up;
using Multiply = std::function<void(const Product&)>;

std::vector<std::pair<std::string, Multiply>> contestants(const Product& shape) {
  std::vector<std::pair<std::string, Multiply>> all{{"podere", podere::neural::multiply}};
#ifdef PODERE_BENCH_OPENBLAS
  openblas_set_num_threads(1);
  all.emplace_back("openblas", [](const Product& p) {
    const bool is_transposed = p.a_row == 1;
    cblas_sgemm(CblasRowMajor, is_transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, static_cast<int>(p.m),
                static_cast<int>(p.n), static_cast<int>(p.k), 1, p.a,
                static_cast<int>(is_transposed ? p.a_step : p.a_row), p.b, static_cast<int>(p.b_stride), 0, p.c,
                static_cast<int>(p.c_stride));
  });
#endif
#ifdef PODERE_BENCH_XSMM
  // Columns first: its C is our transposed one. It has no kernel for an A that is transposed here.
  if (shape.a_step == 1) {
    const auto to_int = [](std::size_t n) { return static_cast<libxsmm_blasint>(n); };
    const libxsmm_blasint lda = to_int(shape.b_stride);
    const libxsmm_blasint ldb = to_int(shape.a_row);
    const libxsmm_blasint ldc = to_int(shape.c_stride);
    const float beta = 0;
    const libxsmm_smmfunction kernel = libxsmm_smmdispatch(to_int(shape.n), to_int(shape.m), to_int(shape.k), &lda,
                                                           &ldb, &ldc, nullptr, &beta, nullptr, nullptr);
    if (kernel != nullptr) all.emplace_back("libxsmm", [kernel](const Product& p) { kernel(p.b, p.a, p.c); });
  }
#else
  (void)shape;
#endif
  return all;
}

HugeArray<float> random_floats(std::size_t n, std::uint64_t seed) {
  HugeArray<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<float>(podere::uniform01(podere::hash64(seed, 0, i)) - 0.5);
  return values;
}

/// A tile through a layer: forward [rows x outputs] = [rows x inputs] [inputs x outputs], or its gradient [outputs x
/// inputs] = [rows x outputs]^T [rows x inputs].
void measure(std::size_t n_inputs, std::size_t n_outputs, bool is_gradient, double seconds) {
  const std::size_t inputs = round_up(n_inputs + 1, kLanes);
  const std::size_t outputs = round_up(n_outputs, kLanes);
  const HugeArray<float> a = random_floats(kTileRows * (is_gradient ? outputs : inputs), 1);
  const HugeArray<float> b = random_floats(is_gradient ? kTileRows * inputs : (n_inputs + 1) * outputs, 2);
  HugeArray<float> c(is_gradient ? n_outputs * inputs : kTileRows * outputs);
  Product product{a.data(), inputs, 1, b.data(), outputs, c.data(), outputs, kTileRows, n_inputs + 1, outputs};
  if (is_gradient) {
    product = {a.data(), 1, outputs, b.data(), inputs, c.data(), inputs, n_outputs, kTileRows, inputs};
  }
  const auto all = contestants(product);
  std::vector<float> expected;
  std::vector<std::vector<double>> rates(all.size());
  constexpr int kTurns = 5;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      std::fill_n(c.data(), c.span().size(), 0.0F);
      std::size_t n_calls = 0;
      const podere::Stopwatch watch;
      do {
        all[k].second(product);
        ++n_calls;
      } while (watch.seconds() < seconds);
      const double flop = 2.0 * static_cast<double>(product.m * product.n * product.k) * static_cast<double>(n_calls);
      rates[k].push_back(flop / watch.seconds() / 1e9);
      if (expected.empty()) expected.assign(c.span().begin(), c.span().end());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::fabs(expected[i] - c[i]) > 1e-3) {
          fmt::print(stderr, "multiply_bench: {} gives {} where {} is right\n", all[k].first, c[i], expected[i]);
          std::exit(1);
        }
      }
    }
  }
  std::vector<std::string> facts;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::ranges::sort(rates[k]);
    facts.push_back(fmt::format(R"("{}": {:.1f})", all[k].first, rates[k][kTurns / 2]));
  }
  fmt::print(R"({{"bench": "multiply", "inputs": {}, "outputs": {}, "pass": "{}", {}}})"
             "\n",
             n_inputs, n_outputs, is_gradient ? "gradient" : "forward", fmt::join(facts, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Products of small dense layers, in GFLOP/s of one thread");
  double seconds = 0.1;
  app.add_option("--seconds", seconds, "Of each turn [0.1]");
  CLI11_PARSE(app, argc, argv);
  const std::pair<std::size_t, std::size_t> layers[] = {{28, 30},   {28, 100},  {784, 128},   {128, 64},
                                                        {256, 256}, {512, 512}, {1024, 1024}, {4096, 4096}};
  for (const auto& [n_inputs, n_outputs] : layers) {
    for (const bool is_gradient : {false, true}) measure(n_inputs, n_outputs, is_gradient, seconds);
  }
  return 0;
}
