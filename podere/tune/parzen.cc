#include "podere/tune/parzen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "podere/base/portable_math.h"
#include "podere/tune/normal.h"

namespace podere::tune {
namespace {

constexpr std::size_t kNewest = 25;

/// Of n observations from old to new, and of the prior; their sum is 1.
std::vector<double> kernel_weights(std::size_t n) {
  std::vector<double> weights(n + 1, 1.0);
  const std::size_t n_old = n > kNewest ? n - kNewest : 0;
  const double least = 1.0 / static_cast<double>(std::max<std::size_t>(n, 1));
  for (std::size_t i = 0; i < n_old; ++i) {
    const double part = n_old > 1 ? static_cast<double>(i) / static_cast<double>(n_old - 1) : 0;
    weights[i] = least + (1 - least) * part;
  }
  double sum = 0;
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

double range_of(const Dimension& dimension) { return dimension.places.high - dimension.places.low; }

/// How wide the kernels of observations are in dimension d: the distance to the farther one of the two neighbors. No
/// kernel is narrower than a hundredth of the range, or than its share of it. NaN where there is no observation.
std::vector<double> kernel_widths(const Dimension& dimension, std::size_t d,
                                  const std::vector<std::vector<double>>& observations) {
  std::vector<std::pair<double, std::size_t>> sorted;  // place, number
  for (std::size_t k = 0; k < observations.size(); ++k) {
    if (!std::isnan(observations[k][d])) sorted.emplace_back(observations[k][d], k);
  }
  std::ranges::sort(sorted);
  const auto [low, high] = dimension.places;
  const double least = (high - low) / std::min(100.0, static_cast<double>(observations.size()) + 2);
  std::vector<double> widths(observations.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double place = sorted[i].first;
    // The ends of the range are neighbors only of one that has no other.
    const double nothing = sorted.size() > 1 ? 0 : std::max(place - low, high - place);
    const double before = i > 0 ? place - sorted[i - 1].first : nothing;
    const double after = i + 1 < sorted.size() ? sorted[i + 1].first - place : nothing;
    widths[sorted[i].second] = std::max({before, after, least});
  }
  return widths;
}

/// Normal, by the polar method of Marsaglia: with nothing but roots and logarithms.
double sample_normal(RandomSequence& random) {
  for (;;) {
    const double x = 2 * random.uniform() - 1;
    const double y = 2 * random.uniform() - 1;
    const double r2 = x * x + y * y;
    if (r2 > 0 && r2 < 1) return x * std::sqrt(-2 * portable_log(r2) / r2);
  }
}

}  // namespace

std::vector<Dimension> dimensions_of(const Space& space) {
  std::vector<Dimension> dimensions;
  for (const Parameter& parameter : space.parameters()) {
    if (parameter.kind == Parameter::Kind::kFixed) continue;
    dimensions.push_back({.places = places_of(parameter),
                          .is_counted = is_counted(parameter),
                          .is_choice = parameter.kind == Parameter::Kind::kChoice});
  }
  return dimensions;
}

Parzen::Parzen(std::vector<Dimension> dimensions, const std::vector<std::vector<double>>& observations)
    : dimensions_(std::move(dimensions)),
      n_kernels_(observations.size() + 1),
      weights_(kernel_weights(observations.size())),
      bumps_(n_kernels_ * dimensions_.size()) {
  for (const double weight : weights_) log_weights_.push_back(portable_log(weight));
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::vector<double> widths = kernel_widths(dimensions_[d], d, observations);
    for (std::size_t k = 0; k < observations.size(); ++k)
      bump_at(k, d) = bump(dimensions_[d], observations[k][d], widths[k]);
    bump_at(observations.size(), d) = prior(dimensions_[d]);
  }
}

Parzen::Bump Parzen::prior(const Dimension& dimension) {
  if (dimension.is_choice) return {.center = std::numeric_limits<double>::quiet_NaN(), .width = 0, .log_scale = 0};
  return bump(dimension, 0.5 * (dimension.places.low + dimension.places.high), range_of(dimension));
}

Parzen::Bump Parzen::bump(const Dimension& dimension, double observed, double width) {
  if (std::isnan(observed)) return prior(dimension);
  if (dimension.is_choice) return {.center = observed, .width = 0, .log_scale = 0};
  const auto [low, high] = dimension.places;
  const double inside = normal_between((low - observed) / width, (high - observed) / width);
  const double scale = dimension.is_counted ? 0 : portable_log(width) + kLogSqrt2Pi;
  return {.center = observed, .width = width, .log_scale = portable_log(inside) + scale};
}

double Parzen::sample_one(const Dimension& dimension, const Bump& bump, RandomSequence& random) const {
  if (dimension.is_choice) {
    const double n_choices = range_of(dimension);
    // What a kernel has beyond its own choice is uniform.
    const bool is_own =
        !std::isnan(bump.center) && random.uniform() * (n_choices / static_cast<double>(n_kernels_) + 1) < 1;
    return is_own ? bump.center : std::floor(random.uniform() * n_choices);
  }
  // A center is in the range, which is no narrower than the kernel: at least one of three is inside.
  for (;;) {
    const double place = bump.center + bump.width * sample_normal(random);
    if (place >= dimension.places.low && place <= dimension.places.high) return place;
  }
}

std::vector<double> Parzen::sample(RandomSequence& random) const {
  double rest = random.uniform();
  std::size_t kernel = 0;
  while (kernel + 1 < n_kernels_ && rest >= weights_[kernel]) rest -= weights_[kernel++];
  std::vector<double> places;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    places.push_back(sample_one(dimensions_[d], bump_at(kernel, d), random));
  }
  return places;
}

double Parzen::log_bump(const Dimension& dimension, const Bump& bump, double place) const {
  if (dimension.is_choice) {
    const double n_choices = range_of(dimension);
    if (std::isnan(bump.center)) return -portable_log(n_choices);
    const auto n_kernels = static_cast<double>(n_kernels_);
    return portable_log((1 / n_kernels + (place == bump.center ? 1 : 0)) / (n_choices / n_kernels + 1));
  }
  const double z = (place - bump.center) / bump.width;
  if (!dimension.is_counted) return -0.5 * z * z - bump.log_scale;
  const double half = 0.5 / bump.width;
  return portable_log(normal_between(z - half, z + half)) - bump.log_scale;
}

std::vector<double> Parzen::log_bumps(std::size_t d, double place) const {
  std::vector<double> logs(n_kernels_);
  for (std::size_t k = 0; k < n_kernels_; ++k) logs[k] = log_bump(dimensions_[d], bump_at(k, d), place);
  return logs;
}

const std::vector<double>& Parzen::log_bumps_of_count(std::size_t d, double place) {
  const auto [found, is_new] = known_.try_emplace({d, place});
  if (is_new) found->second = log_bumps(d, place);
  return found->second;
}

double Parzen::log_density(std::span<const double> places) {
  std::vector<double> logs = log_weights_;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (std::isnan(places[d])) continue;
    const auto add = [&](const std::vector<double>& bumps) {
      for (std::size_t k = 0; k < n_kernels_; ++k) logs[k] += bumps[k];
    };
    if (dimensions_[d].is_counted) {
      add(log_bumps_of_count(d, places[d]));
    } else {
      add(log_bumps(d, places[d]));
    }
  }
  const double largest = std::ranges::max(logs);  // finite: the prior's is
  double sum = 0;
  for (const double log : logs) sum += portable_exp(log - largest);
  return largest + portable_log(sum);
}

}  // namespace podere::tune
