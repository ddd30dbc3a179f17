// Mixtures of Gaussians beside plain formulas.
#include "podere/cluster/mixture.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/cluster/expectation.h"
#include "podere/cluster/seeding.h"
#include "podere/cluster/test_rows.h"

namespace podere::cluster {
namespace {

const comm::Communicator& one_rank() {
  static const auto group = comm::Communicator::self();
  return group;
}

constexpr Covariance kAllKinds[] = {Covariance::kFull, Covariance::kTied, Covariance::kDiagonal,
                                    Covariance::kSpherical};

Eigen::MatrixXd matrix_of(const Gaussians& gaussians, std::size_t k) {
  if (has_matrices(gaussians.kind)) return gaussians.covariances[k];
  return gaussians.covariances[k].col(0).asDiagonal();
}

double plain_log_density(const Gaussians& gaussians, std::size_t k, const Eigen::VectorXd& x) {
  const Eigen::MatrixXd covariance = matrix_of(gaussians, k);
  const Eigen::VectorXd away = x - gaussians.means[k];
  const double form = away.dot(covariance.inverse() * away);
  const double n = static_cast<double>(x.size());
  return std::log(gaussians.weights[k]) - (n * std::log(2 * M_PI) + std::log(covariance.determinant()) + form) / 2;
}

/// Rows in groups, in units, and a first guess of a kind.
struct Guess {
  explicit Guess(Covariance kind)
      : spread(measure_spread(table, true, one_rank(), 1)),
        rows(table, spread.units),
        passes(rows, 10, kind, 1e-6, one_rank(), 2),
        gaussians(passes.begin(find_start(rows, 3, 1, one_rank(), 1)).gaussians) {}

  Eigen::VectorXd row(std::size_t i) const {
    const std::vector<float> values = rows.values(i);
    return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size())).cast<double>();
  }

  table::Table table = rows_in_groups(700, 3, one_rank(), true, 4);
  Spread spread;
  ScaledRows rows;
  ExpectationPasses passes;
  Gaussians gaussians;
};

TEST(GaussiansTest, DensitiesAreThoseOfTheFormula) {
  for (const Covariance kind : kAllKinds) {
    const Guess guess(kind);
    const LogDensities densities(guess.gaussians);
    LogDensities::Workspace workspace(densities);
    for (std::size_t i = 0; i < 20; ++i) {
      const Eigen::VectorXd x = guess.row(i);
      std::vector<double> found(3);
      densities.compute({x.data(), kTestFeatures}, workspace, found);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found[k], plain_log_density(guess.gaussians, k, x), 1e-9);
    }
  }
}

TEST(GaussiansTest, CountsItsNumbers) {
  const auto count = [](Covariance kind) { return Guess(kind).gaussians.n_free(); };
  EXPECT_EQ(count(Covariance::kFull), 2U + 9 + 3 * 6);
  EXPECT_EQ(count(Covariance::kTied), 2U + 9 + 6);
  EXPECT_EQ(count(Covariance::kDiagonal), 2U + 9 + 3 * 3);
  EXPECT_EQ(count(Covariance::kSpherical), 2U + 9 + 3);
}

TEST(ExpectationTest, APassIsThatOfTheFormulas) {
  for (const Covariance kind : kAllKinds) {
    const Guess guess(kind);
    const Expectation found = guess.passes.improve(guess.gaussians);
    double total = 0;
    double log_likelihood = 0;
    std::vector<double> shares(3, 0);
    std::vector<Eigen::VectorXd> sums(3, Eigen::VectorXd::Zero(kTestFeatures));
    std::vector<Eigen::MatrixXd> products(3, Eigen::MatrixXd::Zero(kTestFeatures, kTestFeatures));
    for (std::size_t i = 0; i < guess.rows.n_rows(); ++i) {
      const Eigen::VectorXd x = guess.row(i);
      const double weight = guess.rows.weight(i);
      double density = 0;
      for (std::size_t k = 0; k < 3; ++k) density += std::exp(plain_log_density(guess.gaussians, k, x));
      total += weight;
      log_likelihood += weight * std::log(density);
      for (std::size_t k = 0; k < 3; ++k) {
        const double share = weight * std::exp(plain_log_density(guess.gaussians, k, x)) / density;
        shares[k] += share;
        sums[k] += share * x;
        products[k] += share * x * x.transpose();
      }
    }
    EXPECT_NEAR(found.log_likelihood, log_likelihood / total, 1e-9);
    Eigen::MatrixXd tied = Eigen::MatrixXd::Zero(kTestFeatures, kTestFeatures);
    std::vector<Eigen::MatrixXd> own;
    for (std::size_t k = 0; k < 3; ++k) {
      const Eigen::VectorXd mean = sums[k] / shares[k];
      EXPECT_NEAR(found.gaussians.weights[k], shares[k] / total, 1e-9);
      EXPECT_LT((found.gaussians.means[k] - mean).norm(), 1e-9);
      own.emplace_back(products[k] / shares[k] - mean * mean.transpose());
      tied += own.back() * shares[k] / total;
    }
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(kTestFeatures, kTestFeatures);
    for (std::size_t k = 0; k < 3; ++k) {
      Eigen::MatrixXd expected = kind == Covariance::kTied ? tied : own[k];
      if (kind == Covariance::kDiagonal) expected = Eigen::MatrixXd(expected.diagonal().asDiagonal());
      if (kind == Covariance::kSpherical) expected = expected.trace() / kTestFeatures * one;
      EXPECT_LT((matrix_of(found.gaussians, k) - expected - 1e-6 * one).norm(), 1e-9) << to_string(kind);
    }
  }
}

TEST(ExpectationTest, LikelihoodsNeverFall) {
  for (const Covariance kind : kAllKinds) {
    const Guess guess(kind);
    Gaussians gaussians = guess.gaussians;
    double before = -std::numeric_limits<double>::infinity();
    for (int i = 0; i < 15; ++i) {
      Expectation done = guess.passes.improve(gaussians);
      EXPECT_GT(done.log_likelihood, before - 1e-5);  // regularization may take a little
      before = done.log_likelihood;
      gaussians = std::move(done.gaussians);
    }
    EXPECT_NEAR(mean_log_likelihood(guess.rows, gaussians, one_rank(), 2).mean,
                guess.passes.improve(gaussians).log_likelihood, 1e-12);
  }
}

TEST(MixtureTest, RowsThatAreEqualOrFewHaveClustersToo) {
  auto table = rows_in_groups(40, 2, one_rank(), false, 0);  // two points
  EXPECT_TRUE(train(mixture(), table, one_rank(), 1, {{"n_clusters", 2}}).facts.at("has_converged").get<bool>());
  std::ranges::fill(table.feature(1), 1e30F);  // constant
  EXPECT_TRUE(train(mixture(), table, one_rank(), 1, {{"n_clusters", 2}}).facts.at("has_converged").get<bool>());
  EXPECT_TRUE(train(mixture(), rows_in_groups(1, 1, one_rank()), one_rank(), 1, {{"n_clusters", 1}})
                  .facts.at("has_converged")
                  .get<bool>());
  EXPECT_THROW(train(mixture(), table, one_rank(), 1, {{"n_clusters", 2}, {"regularization", 0.0}}), InputError);
}

TEST(MixtureTest, ModelFilesThatAreNotWholeAreRefused) {
  const auto table = rows_in_groups(60, 2, one_rank());
  for (const Covariance kind : kAllKinds) {
    const Json options = {{"n_clusters", 2}, {"covariance", to_string(kind)}};
    const std::string text = train(mixture(), table, one_rank(), 1, options).model->to_text();
    EXPECT_EQ(mixture().read_model(text, "m")->to_text(), text);
    for (std::size_t length = 0; length + 1 < text.size(); length += 101) {
      EXPECT_THROW(mixture().read_model(text.substr(0, length), "cut"), InputError);
    }
  }
}

}  // namespace
}  // namespace podere::cluster
