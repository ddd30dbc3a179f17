// Minimizing a smooth function by limited-memory BFGS.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "podere/neural/state.h"

namespace podere::neural {

/// The value at `x` [n], and its `gradient` [n] there; infinite or NaN where there is none.
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Why minimizing ended, if it has.
enum class LbfgsEnd {
  kNone,
  kLossConverged,      ///< it fell by at most tolerance * the first value over the last iterations (20 at most)
  kGradientConverged,  ///< its norm is at most tolerance * that of the first one
  kNoStep,             ///< no step along any direction makes the value smaller: rounding, or it is not smooth
};

/// Two-loop recursion over the last `history` steps, and a line search for the strong Wolfe conditions with the
/// constants 1e-4 and 0.9, from step 1 (1 / |gradient| at first). Where it fails, the history is dropped and steepest
/// descent tried once. Conditions to end do not depend on the unit of the function. Sequential sums in a
/// fixed order: the same bits wherever the function has them.
/// Source: Nocedal and Wright, Numerical Optimization, 2nd edition, algorithms 7.4, 7.5, 3.5 and 3.6.
class Lbfgs {
 public:
  /// Begins at `x` [n]; calls `function` once.
  Lbfgs(std::vector<double> x, std::size_t history, double tolerance, SmoothFunction function);
  /// Resumes from a saved state. Throws InputError if `state` is not of a run with so many variables.
  Lbfgs(const TrainState& state, std::size_t n, std::size_t history, double tolerance, SmoothFunction function);

  /// One iteration; none once it has ended.
  void step();

  LbfgsEnd end() const { return end_; }
  std::span<const double> x() const { return x_; }
  double value() const { return value_; }

  void save(TrainState& state) const;

 private:
  struct Pair {
    std::vector<double> s;  // step
    std::vector<double> y;  // change of the gradient
    double rho;             // 1 / (s y)
  };
  struct Point {
    double step;
    double value;
    double slope;  // along the direction
  };
  std::vector<double> direction() const;
  bool search(std::span<const double> direction, double first_step);
  Point evaluate(std::span<const double> direction, double step);
  bool zoom(std::span<const double> direction, const Point& start, Point low, Point high);
  void accept();
  void check_end();

  std::size_t history_;
  double tolerance_;
  SmoothFunction function_;
  std::vector<double> x_;
  std::vector<double> gradient_;
  double value_;
  double first_value_;
  double first_norm_;  // of the gradient
  std::vector<double> recent_values_;
  std::vector<Pair> pairs_;  // oldest first
  LbfgsEnd end_ = LbfgsEnd::kNone;
  std::vector<double> trial_x_;
  std::vector<double> trial_gradient_;
  double trial_value_ = 0;
};

}  // namespace podere::neural
