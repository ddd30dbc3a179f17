// A density of settings, estimated from some of them.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "podere/base/hash.h"
#include "podere/tune/domain.h"

namespace podere::tune {

/// A dimension as the estimate sees it.
struct Dimension {
  Interval places;
  bool is_counted;  ///< places are 0, 1, ...
  bool is_choice;   ///< whose neighbors have nothing in common
};

std::vector<Dimension> dimensions_of(const Space& space);

/// A mixture of kernels, one around each observation and one that knows nothing, the prior. A kernel is a product over
/// the dimensions:
///   number: normal around the observation, as wide as the way to its farther neighbor, cut off at the ends of the
///   range; of counts the integral from i - 1/2 to i + 1/2
///   choice: (1/n_kernels + [it is that of the observation]) / (n_choices/n_kernels + 1)
/// The prior is as wide as the range, or has equal choices. An observation without a dimension has the prior's there.
/// The 25 newest observations and the prior have the same weight, older ones less, down to 1/n of that.
class Parzen {
 public:
  /// `observations` from old to new: places by dimension, NaN for what is not there.
  Parzen(std::vector<Dimension> dimensions, const std::vector<std::vector<double>>& observations);

  std::vector<double> sample(RandomSequence& random) const;

  /// The logarithm of the density. Dimensions in which `places` is NaN are integrated over.
  double log_density(std::span<const double> places);

 private:
  struct Bump {
    double center;  ///< NaN: the prior of a choice
    double width;
    double log_scale;  ///< what its logarithm is less for the integral to be 1
  };

  static Bump prior(const Dimension& dimension);
  static Bump bump(const Dimension& dimension, double observed, double width);
  Bump& bump_at(std::size_t kernel, std::size_t d) { return bumps_[kernel * dimensions_.size() + d]; }
  const Bump& bump_at(std::size_t kernel, std::size_t d) const { return bumps_[kernel * dimensions_.size() + d]; }
  double sample_one(const Dimension& dimension, const Bump& bump, RandomSequence& random) const;
  double log_bump(const Dimension& dimension, const Bump& bump, double place) const;
  /// Those of all kernels in dimension d.
  std::vector<double> log_bumps(std::size_t d, double place) const;
  /// The same of a count or choice, of which there are few: they are computed once.
  const std::vector<double>& log_bumps_of_count(std::size_t d, double place);

  std::vector<Dimension> dimensions_;
  std::size_t n_kernels_;
  std::vector<double> log_weights_;  ///< by kernel
  std::vector<double> weights_;
  std::vector<Bump> bumps_;                                              ///< [n_kernels x n_dimensions]
  std::map<std::pair<std::size_t, double>, std::vector<double>> known_;  ///< by dimension and place
};

}  // namespace podere::tune
