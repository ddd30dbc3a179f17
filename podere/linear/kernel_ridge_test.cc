// Kernel ridge beside the kernel itself, and beside normal equations of all random features in float64.
#include "podere/linear/kernel_ridge.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <string>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/linear/conjugate_gradients.h"
#include "podere/linear/kernel_model.h"

namespace podere::linear {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const comm::Communicator& one_process() {
  static const auto group = comm::Communicator::self();
  return group;
}

constexpr std::size_t kInputs = 3;

struct KernelRows {
  std::vector<std::vector<float>> columns = std::vector<std::vector<float>>(kInputs);
  std::vector<float> label;
  std::vector<float> weight;

  Rows rows() const { return {{columns.begin(), columns.end()}, label, weight, label.size()}; }
};

KernelRows wave(std::size_t n_rows, bool has_weights) {
  KernelRows made;
  for (std::size_t i = 0; i < n_rows; ++i) {
    double y = 5 + 0.1 * uniform01(hash64(4, 50, i));
    for (std::size_t j = 0; j < kInputs; ++j) {
      const double x = 4 * uniform01(hash64(4, j, i)) - 2;
      made.columns[j].push_back(static_cast<float>(x));
      y += 3 * std::sin(2 * x);
    }
    made.label.push_back(static_cast<float>(y));
    if (has_weights) made.weight.push_back(static_cast<float>(i % 4));
  }
  return made;
}

FeatureMap map_of(std::size_t n_outputs, double gamma) {
  return {.seed = 3,
          .n_outputs = n_outputs,
          .gamma = gamma,
          .shift = std::vector<double>(kInputs, 0.5),
          .factor = {1.0, 2.0, 0.25}};
}

MatrixXd cosines(const FeatureMap& map, const KernelRows& made) {
  const RandomFeatures features(map);
  const std::size_t n_rows = made.label.size();
  std::vector<double> values(n_rows * map.n_outputs);
  features.compute(made.rows().columns, 0, n_rows, values.data(), map.n_outputs);
  return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      values.data(), static_cast<Index>(n_rows), static_cast<Index>(map.n_outputs));
}

/// Coefficients and the intercept, of weighted normal equations.
VectorXd by_normal_equations(const MatrixXd& features, const KernelRows& made, double l2) {
  const Index n = features.cols();
  MatrixXd a(features.rows(), n + 1);
  a << features, VectorXd::Ones(features.rows());
  VectorXd y(features.rows());
  VectorXd w(features.rows());
  for (Index i = 0; i < y.size(); ++i) {
    y[i] = double{made.label[static_cast<std::size_t>(i)]};
    w[i] = double{made.rows().weight_of(static_cast<std::size_t>(i))};
  }
  MatrixXd normal = a.transpose() * w.asDiagonal() * a;
  normal.diagonal().head(n).array() += l2;
  return normal.ldlt().solve(a.transpose() * w.cwiseProduct(y));
}

Scales scales_for(const KernelRows& made, Index n) {
  const Scales measured = measure_scales(made.rows(), one_process(), 1);
  Scales scales{VectorXd::Zero(n + 1), VectorXd::Ones(n + 1), measured.largest_weight};
  scales.shift[n] = measured.shift[kInputs];
  scales.factor[n] = measured.factor[kInputs];
  return scales;
}

TEST(RandomFeaturesTest, TheirProductsAreNearlyTheKernel) {
  const KernelRows made = wave(40, false);
  const FeatureMap map = map_of(20000, 0.7);
  const MatrixXd u = cosines(map, made);
  const MatrixXd kernel = 2 * u * u.transpose() / 20000;
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t k = 0; k < 40; ++k) {
      double distance = 0;
      for (std::size_t j = 0; j < kInputs; ++j) {
        distance += std::pow(map.factor[j] * (double{made.columns[j][i]} - double{made.columns[j][k]}), 2);
      }
      EXPECT_NEAR(kernel(static_cast<Index>(i), static_cast<Index>(k)), std::exp(-0.7 * distance), 0.05);
    }
  }
}

TEST(RandomFeaturesTest, EachDependsOnItsNumberAndItsRowAlone) {
  const KernelRows made = wave(100, false);
  const MatrixXd many = cosines(map_of(75, 0.3), made);
  EXPECT_EQ(cosines(map_of(13, 0.3), made), many.leftCols(13));
  EXPECT_LE(many.cwiseAbs().maxCoeff(), 1);
  std::vector<double> part(7 * 80, -9);
  RandomFeatures(map_of(75, 0.3)).compute(made.rows().columns, 41, 48, part.data(), 80);
  for (Index i = 0; i < 7; ++i) {
    for (Index j = 0; j < 75; ++j) EXPECT_EQ(part[static_cast<std::size_t>(i * 80 + j)], many(41 + i, j));
    EXPECT_EQ(part[static_cast<std::size_t>(i * 80 + 75)], -9);
  }
}

TEST(ConjugateGradientsTest, TheyFindWhatNormalEquationsDo) {
  for (const bool has_weights : {false, true}) {
    const KernelRows made = wave(700, has_weights);
    const FeatureMap map = map_of(60, 0.5);
    const MatrixXd u = cosines(map, made);
    const Rows rows = made.rows();
    const RandomFeatures features(map);
    const Scales scales = scales_for(made, 60);
    const auto blocks = scaled_blocks(rows, scales, 60, [&](auto begin, auto end, auto* values, auto stride) {
      features.compute(rows.columns, begin, end, values, stride);
    });
    int n_reports = 0;
    const CgResult found =
        conjugate_gradients(blocks, scales, {2.5, 1e-12, 1000}, one_process(), 1, [&](int n, double) {
          n_reports = n;
          return true;
        });
    const LeastSquares by_cholesky = solve_least_squares(blocks, scales, {.l2 = 2.5}, one_process(), 1);
    const VectorXd right = by_normal_equations(u, made, 2.5);
    EXPECT_TRUE(found.has_converged);
    EXPECT_EQ(n_reports, found.n_iterations);
    EXPECT_EQ(n_reports + 2, found.n_passes);
    EXPECT_LT(found.residual, 2e-12);
    for (std::size_t j = 0; j < 60; ++j) {
      EXPECT_NEAR(found.found.coefficients[j], right[static_cast<Index>(j)], 1e-8) << j;
      EXPECT_NEAR(by_cholesky.coefficients[j], right[static_cast<Index>(j)], 1e-8) << j;
    }
    EXPECT_NEAR(found.found.intercept, right[60], 1e-8);
    EXPECT_NEAR(found.found.squared_error, by_cholesky.squared_error, 1e-9);
    EXPECT_NEAR(found.found.variance, by_cholesky.variance, 1e-9);
  }
}

TEST(ConjugateGradientsTest, TheyStopWhereTheyAreAskedTo) {
  const KernelRows made = wave(300, false);
  const Rows rows = made.rows();
  const RandomFeatures features(map_of(40, 0.5));
  const Scales scales = scales_for(made, 40);
  const auto blocks = scaled_blocks(rows, scales, 40, [&](auto begin, auto end, auto* values, auto stride) {
    features.compute(rows.columns, begin, end, values, stride);
  });
  const auto solve = [&](int max_iterations, int last) {
    return conjugate_gradients(blocks, scales, {1e-3, 1e-14, max_iterations}, one_process(), 1,
                               [&](int n, double) { return n < last; });
  };
  EXPECT_EQ(solve(5, 100).n_iterations, 5);
  EXPECT_FALSE(solve(5, 100).has_converged);
  EXPECT_FALSE(solve(5, 100).was_stopped);
  EXPECT_EQ(solve(5, 3).n_iterations, 3);
  EXPECT_TRUE(solve(5, 3).was_stopped);
  EXPECT_GT(solve(5, 3).residual, solve(12, 100).residual);
}

TEST(KernelModelTest, FilesThatAreNotWholeAreRefused) {
  const FeatureMap map = map_of(2, 0.5);
  const table::Schema schema{.features = {"a", "b", "c"}};
  const std::string text = KernelModel({schema, map, {1.5, -2}, 0.25, 3}).to_text();
  EXPECT_EQ(KernelModel::from_text(text, "m")->to_text(), text);
  for (std::size_t n = 0; n + 2 < text.size(); n += 7) {
    EXPECT_THROW(KernelModel::from_text(text.substr(0, n), "m"), InputError) << n;
  }
  const auto refuses = [&](const std::string& name, const Json& value) {
    Json content = Json::parse(text).at("model");
    content[name] = value;
    EXPECT_THROW(KernelModel::from_text(checked_json_text(kKernelRidgeKind, 1, content), "m"), InputError) << name;
  };
  refuses("coefficients", Json::array());
  refuses("coefficients", {1, nullptr});
  refuses("intercept", nullptr);
  refuses("gamma", -1);
  refuses("gamma", 0);
  refuses("shift", {1, 2});
  refuses("factor", {1, 2, 3, 4});
  refuses("seed", "x");
}

}  // namespace
}  // namespace podere::linear
