#include "podere/scaling/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/scaling/messages.h"

namespace podere::scaling {
namespace {

constexpr std::size_t kLeastPoints = 3;  // two would be fitted whatever they are

struct Line {
  double serial;
  double parallel;
};

/// Minimizes the sum of ((serial + parallel x - y) / t)², neither below 0.
Line least_squares(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& t) {
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double weight = 1 / (t[i] * t[i]);
    w += weight;
    wx += weight * x[i];
    wy += weight * y[i];
    wxx += weight * x[i] * x[i];
    wxy += weight * x[i] * y[i];
  }
  const double parallel = (w * wxy - wx * wy) / (w * wxx - wx * wx);
  const double serial = (wy - parallel * wx) / w;
  if (serial < 0) return {0, std::max(wxy / wxx, 0.0)};
  if (parallel < 0) return {std::max(wy / w, 0.0), 0};
  return {serial, parallel};
}

/// A run on the most executors: its collectives say most of those on more.
const Run& counted_run(const Study& study) { return *std::ranges::max_element(study.runs, {}, &Run::executors); }

void note_deviation(Model& model, const std::vector<Point>& points) {
  for (const Point& point : points) {
    const double deviation = std::abs(model.seconds(point.shape(), model.here) / point.seconds - 1);
    if (deviation < model.largest_deviation) continue;
    model.largest_deviation = deviation;
    model.deviating = point.shape();
  }
}

std::string network_text(const Network& network) {
  return fmt::format("{:.3g} µs a step, {:.3g} Gbit/s", network.latency_us, network.gigabits);
}

}  // namespace

double Model::seconds(const Shape& shape, const Network& between) const {
  return serial_seconds + parallel_seconds / shape.total_cores() +
         message_seconds(collectives, n_counted, shape.executors, between);
}

void check_can_model(const std::vector<Shape>& measured, const std::vector<int>& total_cores) {
  std::set<std::tuple<int, int>> shapes;
  std::set<int> totals;
  for (const Shape& shape : measured) {
    shapes.emplace(shape.executors, shape.cores);
    totals.insert(shape.total_cores());
  }
  if (shapes.size() < kLeastPoints) {
    throw_input_error(
        "--model: needs {} measured points at least, and there {} {}: measure more --executors and --cores",
        kLeastPoints, shapes.size() == 1 ? "is" : "are", shapes.size());
  }
  if (totals.size() < 2) {
    throw_input_error("--model: all measured points have {} cores in all: measure some with fewer", *totals.begin());
  }
  if (std::ranges::none_of(measured, [](const Shape& shape) { return shape.executors > 1; })) {
    throw_input_error("--model: no measured point has 2 executors or more, whose messages it counts");
  }
  for (const int total : total_cores) {
    if (std::ranges::any_of(measured, [&](const Shape& shape) { return total % shape.cores == 0; })) continue;
    throw_input_error("--model {}: is no multiple of the cores of an executor that are measured, {} at least", total,
                      std::ranges::min(measured, {}, &Shape::cores).cores);
  }
}

Model fit(const Study& study, const std::optional<Network>& given) {
  const std::vector<Point> points = points_of(study);
  const Run& counted = counted_run(study);
  Model model{.collectives = counted.collectives,
              .n_counted = counted.executors,
              .here = study.network.value(),
              .network = given.value_or(*study.network),
              .network_is_given = given.has_value(),
              .n_points = points.size()};
  std::vector<double> shares, computing, seconds;
  for (const Point& point : points) {
    shares.push_back(1.0 / point.total_cores());
    seconds.push_back(point.seconds);
    computing.push_back(point.seconds - model.seconds(point.shape(), model.here));  // which has messages alone so far
  }
  const Line line = least_squares(shares, computing, seconds);
  model.serial_seconds = line.serial;
  model.parallel_seconds = line.parallel;
  note_deviation(model, points);
  return model;
}

std::vector<Point> modeled_points(const Study& study, const Model& model, const std::vector<int>& total_cores) {
  const std::vector<Point> measured = points_of(study);
  std::set<int> cores;
  for (const Point& point : measured) cores.insert(point.cores);
  std::vector<Point> points;
  for (const int total : std::set<int>(total_cores.begin(), total_cores.end())) {
    for (const int each : cores) {
      if (total % each != 0) continue;
      Point point{.executors = total / each, .cores = each, .is_modeled = true};
      if (std::ranges::find(measured, point.shape(), &Point::shape) != measured.end()) continue;
      point.seconds = model.seconds(point.shape(), model.network);
      compare(point, measured.front(), false);
      points.push_back(point);
    }
  }
  return points;
}

std::string in_words(const Model& model) {
  std::string messages = ", whose messages are not counted: commands other than train send little";
  if (!model.collectives.empty()) {
    messages = fmt::format(" + messages ({}, {})", network_text(model.network),
                           model.network_is_given ? "as --network says" : "as between the measured executors");
  }
  return fmt::format(
      "Modeled: {:.3g} s + {:.3g} s / cores{}. Fitted to {} measured points, from which it differs by up to {:.1f} % "
      "({}); executors are taken to have cores, disk and memory of their own.",
      model.serial_seconds, model.parallel_seconds, messages, model.n_points, 100 * model.largest_deviation,
      to_string(model.deviating));
}

Json to_json(const Model& model) {
  return {{"serial_seconds", model.serial_seconds},
          {"parallel_seconds", model.parallel_seconds},
          {"network", json_of_all_fields(model.network)},
          {"network_is_given", model.network_is_given},
          {"measured_network", json_of_all_fields(model.here)},
          {"measured_points", model.n_points},
          {"largest_deviation", model.largest_deviation},
          {"text", in_words(model)}};
}

}  // namespace podere::scaling
