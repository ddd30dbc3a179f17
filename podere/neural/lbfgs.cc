#include "podere/neural/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace podere::neural {
namespace {

constexpr double kDecrease = 1e-4;   // c1
constexpr double kCurvature = 0.9;   // c2
constexpr int kMostTrials = 25;      // of a line search
constexpr std::size_t kRecent = 20;  // values that show whether it still falls

/// As four interleaved sums.
double dot(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= a.size(); i += 4) {
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

void add(double factor, std::span<const double> a, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * a[i];
}

/// The least point of the parabola through a value and slope at `a` and a value at `b`, or the middle where it is not
/// well between them.
double between(double a, double value_a, double slope_a, double b, double value_b) {
  const double width = b - a;
  const double curvature = (value_b - value_a - slope_a * width) / (width * width);
  const double step = a - slope_a / (2 * curvature);
  const double low = std::min(a, b) + 0.1 * std::abs(width);
  const double high = std::max(a, b) - 0.1 * std::abs(width);
  return step >= low && step <= high ? step : a + width / 2;  // NaN too
}

}  // namespace

Lbfgs::Lbfgs(std::vector<double> x, std::size_t history, double tolerance, SmoothFunction function)
    : history_(history),
      tolerance_(tolerance),
      function_(std::move(function)),
      x_(std::move(x)),
      gradient_(x_.size()),
      value_(function_(x_, gradient_)),
      first_value_(value_),
      first_norm_(norm(gradient_)),
      recent_values_{value_},
      trial_x_(x_.size()),
      trial_gradient_(x_.size()) {}

std::vector<double> Lbfgs::direction() const {
  std::vector<double> d(gradient_.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = -gradient_[i];
  if (pairs_.empty()) return d;
  std::vector<double> alpha(pairs_.size());
  for (std::size_t k = pairs_.size(); k-- > 0;) {
    alpha[k] = pairs_[k].rho * dot(pairs_[k].s, d);
    add(-alpha[k], pairs_[k].y, d);
  }
  const Pair& last = pairs_.back();
  const double scale = 1 / (last.rho * dot(last.y, last.y));
  for (double& value : d) value *= scale;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    add(alpha[k] - pairs_[k].rho * dot(pairs_[k].y, d), pairs_[k].s, d);
  }
  return d;
}

Lbfgs::Point Lbfgs::evaluate(std::span<const double> direction, double step) {
  for (std::size_t i = 0; i < x_.size(); ++i) trial_x_[i] = x_[i] + step * direction[i];
  trial_value_ = function_(trial_x_, trial_gradient_);
  if (!std::isfinite(trial_value_)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {step, kInfinity, kInfinity};
  }
  return {step, trial_value_, dot(trial_gradient_, direction)};
}

bool Lbfgs::zoom(std::span<const double> direction, const Point& start, Point low, Point high) {
  for (int i = 0; i < kMostTrials; ++i) {
    const Point at = evaluate(direction, between(low.step, low.value, low.slope, high.step, high.value));
    if (!(at.value <= start.value + kDecrease * at.step * start.slope) || at.value >= low.value) {
      high = at;
    } else {
      if (std::abs(at.slope) <= -kCurvature * start.slope) return true;
      if (at.slope * (high.step - low.step) >= 0) high = low;
      low = at;
    }
    if (std::abs(high.step - low.step) <= 1e-10 * std::abs(low.step)) break;
  }
  // Not as much as Wolfe asks for, but less than before.
  if (low.step == 0) return false;
  evaluate(direction, low.step);
  return trial_value_ < start.value;
}

/// True if there is a better point, which is then the trial's.
bool Lbfgs::search(std::span<const double> direction, double first_step) {
  const Point start{0, value_, dot(gradient_, direction)};
  if (!(start.slope < 0)) return false;
  Point before = start;
  double step = first_step;
  for (int i = 0; i < kMostTrials; ++i) {
    const Point at = evaluate(direction, step);
    if (!(at.value <= start.value + kDecrease * step * start.slope) || (i > 0 && at.value >= before.value)) {
      return zoom(direction, start, before, at);
    }
    if (std::abs(at.slope) <= -kCurvature * start.slope) return true;
    if (at.slope >= 0) return zoom(direction, start, at, before);
    before = at;
    step *= 2;
  }
  return true;  // it falls and falls
}

void Lbfgs::accept() {
  Pair pair{std::vector<double>(x_.size()), std::vector<double>(x_.size()), 0};
  for (std::size_t i = 0; i < x_.size(); ++i) {
    pair.s[i] = trial_x_[i] - x_[i];
    pair.y[i] = trial_gradient_[i] - gradient_[i];
  }
  const double sy = dot(pair.s, pair.y);
  if (sy > 1e-10 * norm(pair.s) * norm(pair.y)) {  // else the curvature there is none to learn from
    pair.rho = 1 / sy;
    if (pairs_.size() == history_) pairs_.erase(pairs_.begin());
    pairs_.push_back(std::move(pair));
  }
  x_.swap(trial_x_);
  gradient_.swap(trial_gradient_);
  value_ = trial_value_;
}

void Lbfgs::step() {
  if (end_ != LbfgsEnd::kNone) return;
  const auto steepest = [&] { return 1 / norm(gradient_); };
  bool is_found = search(direction(), pairs_.empty() ? steepest() : 1.0);
  if (!is_found && !pairs_.empty()) {
    pairs_.clear();
    is_found = search(direction(), steepest());
  }
  if (!is_found) {
    end_ = LbfgsEnd::kNoStep;
    return;
  }
  accept();
  check_end();
}

void Lbfgs::check_end() {
  recent_values_.push_back(value_);
  if (recent_values_.size() > kRecent) recent_values_.erase(recent_values_.begin());
  const double fall = *std::ranges::max_element(recent_values_) - value_;
  if (fall <= tolerance_ * std::abs(first_value_)) {
    end_ = LbfgsEnd::kLossConverged;
  } else if (norm(gradient_) <= tolerance_ * first_norm_) {
    end_ = LbfgsEnd::kGradientConverged;
  }
}

void Lbfgs::save(TrainState& state) const {
  state.numbers["lbfgs"] = {value_, first_value_, static_cast<double>(pairs_.size()), static_cast<double>(end_),
                            first_norm_};
  state.numbers["lbfgs_x"] = x_;
  state.numbers["lbfgs_gradient"] = gradient_;
  state.numbers["lbfgs_recent"] = recent_values_;
  for (std::size_t k = 0; k < pairs_.size(); ++k) {
    state.numbers["lbfgs_s" + std::to_string(k)] = pairs_[k].s;
    state.numbers["lbfgs_y" + std::to_string(k)] = pairs_[k].y;
  }
}

Lbfgs::Lbfgs(const TrainState& state, std::size_t n, std::size_t history, double tolerance, SmoothFunction function)
    : history_(history),
      tolerance_(tolerance),
      function_(std::move(function)),
      x_(numbers_of(state, "lbfgs_x", n)),
      gradient_(numbers_of(state, "lbfgs_gradient", n)),
      value_(numbers_of(state, "lbfgs", 5)[0]),
      first_value_(numbers_of(state, "lbfgs", 5)[1]),
      first_norm_(numbers_of(state, "lbfgs", 5)[4]),
      trial_x_(n),
      trial_gradient_(n) {
  const std::vector<double>& counters = numbers_of(state, "lbfgs", 5);
  if (!(counters[2] >= 0 && counters[2] <= static_cast<double>(history)) || !(counters[3] >= 0 && counters[3] <= 3)) {
    throw InputError("the checkpoint is of another run: its history is longer than this run's");
  }
  end_ = static_cast<LbfgsEnd>(static_cast<int>(counters[3]));
  if (const auto found = state.numbers.find("lbfgs_recent"); found != state.numbers.end()) {
    recent_values_ = found->second;
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(counters[2]); ++k) {
    Pair pair{numbers_of(state, ("lbfgs_s" + std::to_string(k)).c_str(), n),
              numbers_of(state, ("lbfgs_y" + std::to_string(k)).c_str(), n), 0};
    pair.rho = 1 / dot(pair.s, pair.y);
    pairs_.push_back(std::move(pair));
  }
}

}  // namespace podere::neural
