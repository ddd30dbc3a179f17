// What a command would take on more executors than were measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podere/scaling/study.h"

namespace podere::scaling {

/// seconds(n executors × c cores) = serial + parallel / (n c) + messages(n)
///
/// Amdahl's law with messages: these are counted and computed (messages.h), the other two are fitted to the measured
/// points, by least squares of relative errors, neither below 0. It knows nothing of executors that are late, of disks
/// and memory that executors share, or of caches that fit more once each has fewer rows.
struct Model {
  double serial_seconds = 0;
  double parallel_seconds = 0;
  std::vector<Collectives> collectives;  ///< as counted on n_counted executors
  int n_counted = 2;
  Network here;     ///< between the executors that were measured
  Network network;  ///< between those that are modeled
  bool network_is_given = false;
  std::size_t n_points = 0;
  double largest_deviation = 0;  ///< of a measured point: |modeled / measured - 1|
  Shape deviating;               ///< where that is

  double seconds(const Shape& shape, const Network& between) const;
};

/// Throws InputError for `measured` to which no model can be fitted: fewer than three, all of as many cores in all, or
/// none with two executors, whose messages would be known; and for one of `total_cores` that is no multiple of the
/// cores of a measured executor.
void check_can_model(const std::vector<Shape>& measured, const std::vector<int>& total_cores);

/// To a study of strong scaling with a measured network whose points can be modeled. `given` is the network of the
/// executors that are modeled; unset: that of those measured.
Model fit(const Study& study, const std::optional<Network>& given);

/// For each of `total_cores` the points with as many cores in all that were not measured: one for each measured number
/// of cores of an executor that divides it.
std::vector<Point> modeled_points(const Study& study, const Model& model, const std::vector<int>& total_cores);

/// "0.42 s + 9.81 s / cores + messages ...", and how well that fits, as two sentences.
std::string in_words(const Model& model);
Json to_json(const Model& model);

}  // namespace podere::scaling
