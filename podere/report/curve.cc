#include "podere/report/curve.h"

#include <algorithm>
#include <cmath>

namespace podere::report {

void Curve::add(const ProgressStep& step, double seconds) {
  phase_ = step.phase;
  unit_ = step.unit;
  total_ = step.total;
  if (!points_.empty() && !last_is_kept_) points_.pop_back();
  while (!points_.empty() && points_.back().done >= step.done) points_.pop_back();
  points_.push_back({step.done, seconds, step.metrics});
  last_is_kept_ = n_added_++ % stride_ == 0;
  if (points_.size() > kMostPoints) thin_out();
}

void Curve::thin_out() {
  std::vector<Point> kept;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    if (i % 2 == 0 || i + 1 == points_.size()) kept.push_back(std::move(points_[i]));
  }
  points_ = std::move(kept);
  stride_ *= 2;
}

bool Curve::has_metrics() const {
  return std::ranges::any_of(points_, [](const Point& point) { return !point.metrics.empty(); });
}

Json Curve::to_json() const {
  Json done = Json::array();
  Json seconds = Json::array();
  Json metrics = Json::object();
  for (std::size_t i = 0; i < points_.size(); ++i) {
    done.push_back(points_[i].done);
    seconds.push_back(points_[i].seconds);
    for (const auto& [name, value] : points_[i].metrics) {
      Json& values = metrics[name];
      while (values.size() < i) values.push_back(nullptr);
      values.push_back(std::isfinite(value) ? Json(value) : Json());
    }
  }
  for (auto& values : metrics) {
    while (values.size() < points_.size()) values.push_back(nullptr);
  }
  return {{"phase", phase_},         {"unit", unit_.empty() ? "tree" : unit_}, {"total", total_},
          {"done", std::move(done)}, {"seconds", std::move(seconds)},          {"metrics", std::move(metrics)}};
}

Curve Curve::from_json(const Json& json, double first_second) {
  Curve curve;
  curve.phase_ = json.at("phase").get<std::string>();
  curve.unit_ = json.at("unit").get<std::string>();
  curve.total_ = json.at("total").get<std::size_t>();
  for (std::size_t i = 0; i < json.at("done").size(); ++i) {
    Point point{json["done"].at(i).get<std::size_t>(), first_second + json.at("seconds").at(i).get<double>(), {}};
    for (const auto& [name, values] : json.at("metrics").items()) {
      if (!values.at(i).is_null()) point.metrics.emplace_back(name, values.at(i).get<double>());
    }
    curve.points_.push_back(std::move(point));
  }
  return curve;
}

void Curve::continue_with(const Curve& later) {
  if (later.points_.empty()) return;
  while (!points_.empty() && points_.back().done >= later.points_.front().done) points_.pop_back();
  phase_ = later.phase_;
  unit_ = later.unit_;
  total_ = later.total_;
  points_.insert(points_.end(), later.points_.begin(), later.points_.end());
  while (points_.size() > kMostPoints) thin_out();
}

}  // namespace podere::report
