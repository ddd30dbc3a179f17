#include "podere/neural/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace podere::neural {
namespace {

double rosenbrock(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (std::size_t i = 0; i + 1 < x.size(); ++i) {
    const double a = x[i + 1] - x[i] * x[i];
    const double b = 1 - x[i];
    value += 100 * a * a + b * b;
    gradient[i] += -400 * a * x[i] - 2 * b;
    gradient[i + 1] += 200 * a;
  }
  return value;
}

TEST(LbfgsTest, FindsTheLeastPointOfRosenbrocksValley) {
  int n_calls = 0;
  Lbfgs lbfgs({-1.2, 1, -1.2, 1}, 10, 0, [&](auto x, auto gradient) {
    ++n_calls;
    return rosenbrock(x, gradient);
  });
  int n_steps = 0;
  for (; n_steps < 200 && lbfgs.end() == LbfgsEnd::kNone; ++n_steps) lbfgs.step();
  for (const double x : lbfgs.x()) EXPECT_NEAR(x, 1, 1e-6);
  EXPECT_LT(n_steps, 80);
  EXPECT_LT(n_calls, 120);  // most first steps are accepted
}

TEST(LbfgsTest, EveryIterationMakesTheValueSmaller) {
  Lbfgs lbfgs({-1.2, 1, 3, -2, 0.5}, 3, 0, rosenbrock);
  for (int i = 0; i < 50 && lbfgs.end() == LbfgsEnd::kNone; ++i) {
    const double before = lbfgs.value();
    lbfgs.step();
    if (lbfgs.end() == LbfgsEnd::kNone) {
      EXPECT_LT(lbfgs.value(), before);
    }
  }
}

TEST(LbfgsTest, EndsWhereTheLossFallsNoMore) {
  // Slopes stay above tolerance * the first: they hardly fall.
  const auto steep = [](std::span<const double> x, std::span<double> gradient) {
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double weight = static_cast<double>(i + 1);
      gradient[i] = std::copysign(1.2 * weight * std::pow(std::abs(x[i]), 0.2), x[i]);
      value += weight * std::pow(std::abs(x[i]), 1.2);
    }
    return value;
  };
  Lbfgs lbfgs({1, 2, 3}, 10, 1e-3, steep);
  int n_steps = 0;
  for (; n_steps < 200 && lbfgs.end() == LbfgsEnd::kNone; ++n_steps) lbfgs.step();
  EXPECT_EQ(lbfgs.end(), LbfgsEnd::kLossConverged);
  EXPECT_GE(n_steps, 19) << "it fell by more within the last 20 values";
}

TEST(LbfgsTest, EndsAtTheSamePointInAnyUnit) {
  const auto steps_in = [](double unit) {
    Lbfgs lbfgs({-1.2, 1, -1.2, 1}, 10, 1e-6, [&](auto x, auto gradient) {
      const double value = rosenbrock(x, gradient);
      for (double& slope : gradient) slope *= unit;
      return unit * value;
    });
    int n_steps = 0;
    for (; n_steps < 200 && lbfgs.end() == LbfgsEnd::kNone; ++n_steps) lbfgs.step();
    EXPECT_NEAR(lbfgs.x()[0], 1, 1e-2) << unit;
    return n_steps;
  };
  const int n_steps = steps_in(1);
  for (const double unit : {0x1p-60, 0x1p-30, 0x1p30, 0x1p60}) EXPECT_EQ(steps_in(unit), n_steps) << unit;
}

TEST(LbfgsTest, TakesNoStepOnceItHasEnded) {
  Lbfgs lbfgs({-1.2, 1}, 10, 1e-3, rosenbrock);
  for (int i = 0; i < 200 && lbfgs.end() == LbfgsEnd::kNone; ++i) lbfgs.step();
  EXPECT_NE(lbfgs.end(), LbfgsEnd::kNone);
  const double value = lbfgs.value();
  lbfgs.step();
  EXPECT_EQ(lbfgs.value(), value);
}

TEST(LbfgsTest, EndsAtOnceWhereItBegan) {
  Lbfgs lbfgs({1, 1}, 10, 1e-6, rosenbrock);
  lbfgs.step();
  EXPECT_NE(lbfgs.end(), LbfgsEnd::kNone);
  EXPECT_EQ(lbfgs.x()[0], 1);
}

TEST(LbfgsTest, StaysWhereTheFunctionIsFinite) {
  // The logarithm of a negative number is none: the first step of 1 goes beyond 0.
  const auto barrier = [](std::span<const double> x, std::span<double> gradient) {
    if (x[0] <= 0) return std::numeric_limits<double>::quiet_NaN();
    gradient[0] = 1 - 0.01 / x[0];
    return x[0] - 0.01 * std::log(x[0]);
  };
  Lbfgs lbfgs({0.5}, 5, 0, barrier);
  for (int i = 0; i < 100 && lbfgs.end() == LbfgsEnd::kNone; ++i) lbfgs.step();
  EXPECT_NEAR(lbfgs.x()[0], 0.01, 1e-6);
}

TEST(LbfgsTest, ResumesFromASavedStateAsIfItHadNeverStopped) {
  Lbfgs whole({-1.2, 1, 3, -2}, 4, 0, rosenbrock);
  Lbfgs first({-1.2, 1, 3, -2}, 4, 0, rosenbrock);
  for (int i = 0; i < 8; ++i) {
    whole.step();
    first.step();
  }
  TrainState state;
  first.save(state);
  Lbfgs second(state, 4, 4, 0, rosenbrock);
  for (int i = 0; i < 8; ++i) {
    whole.step();
    second.step();
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(second.x()[i], whole.x()[i]);
  EXPECT_THROW(Lbfgs(state, 5, 4, 0, rosenbrock), InputError);
  EXPECT_THROW(Lbfgs(state, 4, 2, 0, rosenbrock), InputError);
  state.numbers.erase("lbfgs_y0");
  EXPECT_THROW(Lbfgs(state, 4, 4, 0, rosenbrock), InputError);
}

}  // namespace
}  // namespace podere::neural
