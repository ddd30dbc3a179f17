#include "podere/scaling/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace podere::scaling {
namespace {

constexpr double kLeastEfficiency = 0.5;  // below, half of the cores do nothing
constexpr int kMostModeled = 4096;        // cores

double memory_of(const Point& point) { return point.executors * static_cast<double>(point.peak_memory_bytes); }

std::string counts_text(const Point& point) {
  return fmt::format("{} executor{} × {} core{}", point.executors, point.executors == 1 ? "" : "s", point.cores,
                     point.cores == 1 ? "" : "s");
}

std::string seconds_text(const Point& point) {
  return point.n_runs > 1
             ? fmt::format("{:.2f} s, from {:.2f} to {:.2f}", point.seconds, point.least_seconds, point.most_seconds)
             : fmt::format("{:.2f} s in one run, whose spread is not known", point.seconds);
}

/// "2.0 times the memory", "half the memory"; empty where it is about the same.
std::string memory_text(const Point& point, const Point& than) {
  if (memory_of(than) <= 0) return "";
  const double times = memory_of(point) / memory_of(than);
  return times > 1.1 || times < 0.9 ? fmt::format("{:.2g} times the memory", times) : "";
}

/// "2 × 1 takes 3 % longer and 2 times the memory".
std::string against(const Point& point, const Point& chosen) {
  const double longer = 100 * (point.seconds / chosen.seconds - 1);
  const std::string memory = memory_text(point, chosen);
  const std::string time = longer < -0.5  ? fmt::format("takes {:.0f} % less time, within the spread", -longer)
                           : longer < 0.5 ? "takes as long"
                                          : fmt::format("takes {:.0f} % longer", longer);
  return fmt::format("{} {}{}{}", to_string(point.shape()), time, memory.empty() ? "" : ", ", memory);
}

const Point& choose(const std::vector<Point>& points) {
  const Point& fastest = *std::ranges::min_element(points, {}, &Point::seconds);
  const auto cost = [](const Point& point) {
    return std::tuple(point.executors, point.cores, memory_of(point), point.seconds);
  };
  const Point* chosen = &fastest;
  for (const Point& point : points) {
    if (point.least_seconds <= fastest.seconds && cost(point) < cost(*chosen)) chosen = &point;
  }
  return *chosen;
}

/// The most cores, in executors of `cores` each, with which the model is as efficient as is worth it.
std::string efficiency_text(const Model& model, const Point& base, int cores) {
  int last = base.total_cores();
  for (int total = cores; total <= kMostModeled; total += cores) {
    Point point{.executors = total / cores, .cores = cores, .is_modeled = true};
    point.seconds = model.seconds(point.shape(), model.network);
    compare(point, base, false);
    if (point.efficiency < kLeastEfficiency) {
      return fmt::format("modeled, not measured: beyond {} core{} efficiency falls below {:.0f} %", last,
                         last == 1 ? "" : "s", 100 * kLeastEfficiency);
    }
    last = total;
  }
  return fmt::format("modeled, not measured: efficiency stays above {:.0f} % up to {} cores", 100 * kLeastEfficiency,
                     last);
}

}  // namespace

Suggestion suggest(const Study& study, const std::optional<Model>& model) {
  const std::vector<Point> points = points_of(study);
  const Point& fastest = *std::ranges::min_element(points, {}, &Point::seconds);
  const Point& chosen = choose(points);
  Suggestion suggestion{.shape = chosen.shape(), .reasons = {}};
  suggestion.reasons.push_back(
      fmt::format("{}: {} ({})", counts_text(chosen),
                  chosen.shape() == fastest.shape()
                      ? "the fastest that was measured"
                      : fmt::format("as fast as {} within the spread of runs, with less", to_string(fastest.shape())),
                  seconds_text(chosen)));
  std::vector<Point> others;
  std::ranges::copy_if(points, std::back_inserter(others),
                       [&](const Point& point) { return point.shape() != chosen.shape(); });
  std::ranges::stable_sort(others, {}, &Point::seconds);
  constexpr std::size_t kMostOthers = 3;
  for (std::size_t i = 0; i < std::min(others.size(), kMostOthers); ++i) {
    suggestion.reasons.push_back(against(others[i], chosen));
  }
  if (model) suggestion.reasons.push_back(efficiency_text(*model, points.front(), chosen.cores));
  return suggestion;
}

Json to_json(const Suggestion& suggestion) {
  return {
      {"executors", suggestion.shape.executors}, {"cores", suggestion.shape.cores}, {"reasons", suggestion.reasons}};
}

}  // namespace podere::scaling
