// How the measures of a long job went.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/json.h"
#include "podere/base/progress.h"

namespace podere::report {

/// The measures that one phase of a job reported. Of many reports every second, fourth, ... is kept, and the last.
class Curve {
 public:
  static constexpr std::size_t kMostPoints = 4000;

  /// `step` was reported `seconds` after the beginning. One that was done before, since executors were lost, begins
  /// anew from there.
  void add(const ProgressStep& step, double seconds);
  bool has_metrics() const;

  /// "phase", "unit" ("tree" where reports name none), "total", "done", "seconds" and "metrics": lists of the same
  /// length, the last by name, with null where a report had none.
  Json to_json() const;

  /// Inverse of to_json, of a curve that executors sent; `first_second` is when it began. Throws Json::exception.
  static Curve from_json(const Json& json, double first_second);
  /// What this has of steps before the first of `later`, and then that.
  void continue_with(const Curve& later);

 private:
  struct Point {
    std::size_t done;
    double seconds;
    std::vector<std::pair<std::string, double>> metrics;
  };
  void thin_out();

  std::string phase_;
  std::string unit_;
  std::size_t total_ = 0;
  std::size_t stride_ = 1;  // of the reports that are kept
  std::size_t n_added_ = 0;
  bool last_is_kept_ = true;  // when more are added
  std::vector<Point> points_;
};

}  // namespace podere::report
