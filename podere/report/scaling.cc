#include "podere/report/scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/json_text.h"

namespace podere::report {
namespace {

constexpr const char* kScaleFormat = "podere_scale";
constexpr int kScaleVersion = 1;
constexpr int kMost = 10000;  // executors, cores

/// Of at least one value.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

template <typename Value>
double median_of(const std::vector<ScaleRun>& runs, const Value& value) {
  std::vector<double> values;
  for (const ScaleRun& run : runs) values.push_back(value(run));
  return median(std::move(values));
}

/// An object with all fields, those that have their defaults too, of the structs in lists as well.
template <HasFields T>
Json whole_json_of(const T& value) {
  Json object = Json::object();
  T::visit_fields(value, [&](const char* name, const auto& member) {
    if constexpr (is_vector<std::remove_cvref_t<decltype(member)>>::value) {
      object[name] = Json::array();
      for (const auto& element : member) object[name].push_back(whole_json_of(element));
    } else {
      object[name] = json_of(member);
    }
  });
  return object;
}

Json json_of_point(const ScalePoint& point) {
  Json phases = Json::array();
  for (const PhaseSeconds& phase : point.phases) phases.push_back(whole_json_of(phase));
  return {{"executors", point.executors},
          {"cores", point.cores},
          {"total_cores", point.total_cores()},
          {"n_runs", point.n_runs},
          {"seconds", point.seconds},
          {"least_seconds", point.least_seconds},
          {"most_seconds", point.most_seconds},
          {"speed_up", point.speed_up},
          {"efficiency", point.efficiency},
          {"wait_share", point.wait_share},
          {"phases", phases},
          {"peak_memory_bytes", point.peak_memory_bytes}};
}

ScalePoint point_of(const std::vector<ScaleRun>& runs) {
  ScalePoint point{.executors = runs.front().executors, .cores = runs.front().cores, .n_runs = runs.size()};
  const auto seconds = [](const ScaleRun& run) { return run.seconds; };
  point.seconds = median_of(runs, seconds);
  point.least_seconds = std::ranges::min(runs, {}, seconds).seconds;
  point.most_seconds = std::ranges::max(runs, {}, seconds).seconds;
  point.wait_share = median_of(runs, [](const ScaleRun& run) { return run.wait_share; });
  for (const PhaseSeconds& phase : runs.front().phases) {
    point.phases.push_back({phase.phase, median_of(runs, [&](const ScaleRun& run) {
                              const auto found = std::ranges::find(run.phases, phase.phase, &PhaseSeconds::phase);
                              return found == run.phases.end() ? 0 : found->seconds;
                            })});
  }
  for (const ScaleRun& run : runs) point.peak_memory_bytes = std::max(point.peak_memory_bytes, run.peak_memory_bytes);
  return point;
}

}  // namespace

Json to_json(const ScaleStudy& study) {
  Json json = {{kScaleFormat, kScaleVersion}, {"version", PODERE_VERSION}};
  json.update(whole_json_of(study));
  const auto same = has_same_results(study);
  json["same_results"] = same ? Json(*same) : Json();
  json["points"] = Json::array();
  for (const ScalePoint& point : points_of(study)) json["points"].push_back(json_of_point(point));
  return json;
}

ScaleStudy scale_study_of(const std::string& text, const std::string& name) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) throw_input_error("{}: is no study of podere scale", name);
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kScaleFormat)) throw_input_error("{}: is no study of podere scale", name);
  if (json[kScaleFormat] != kScaleVersion || json["version"] != PODERE_VERSION) {
    throw_input_error("{}: was measured by another version of Podere, whose times are not comparable", name);
  }
  for (const char* derived : {kScaleFormat, "version", "same_results", "points"}) json.erase(derived);
  ScaleStudy study;
  read_json(json, name, study);
  for (const ScaleRun& run : study.runs) {
    const bool is_sound = run.executors > 0 && run.executors <= kMost && run.cores > 0 && run.cores <= kMost &&
                          run.seconds > 0 && std::isfinite(run.seconds);
    if (!is_sound) throw_input_error("{}: is damaged: a run has no executors, no cores or no seconds", name);
  }
  return study;
}

std::vector<ScalePoint> points_of(const ScaleStudy& study) {
  std::map<std::tuple<int, int>, std::vector<ScaleRun>> by_point;  // cores in all, executors
  for (const ScaleRun& run : study.runs) by_point[{run.executors * run.cores, run.executors}].push_back(run);
  std::vector<ScalePoint> points;
  for (const auto& [key, runs] : by_point) {
    ScalePoint point = point_of(runs);
    const ScalePoint& base = points.empty() ? point : points.front();
    const double times_as_fast = base.seconds / point.seconds;
    const double times_as_many = static_cast<double>(point.total_cores()) / base.total_cores();
    point.speed_up = study.weak_rows ? times_as_fast * times_as_many : times_as_fast;
    point.efficiency = point.speed_up / times_as_many;
    points.push_back(std::move(point));
  }
  return points;
}

std::optional<bool> has_same_results(const ScaleStudy& study) {
  if (study.weak_rows || study.runs.empty() || study.runs.front().sha256.empty()) return std::nullopt;
  const std::string& first = study.runs.front().sha256;
  return std::ranges::all_of(study.runs, [&](const ScaleRun& run) { return run.sha256 == first; });
}

}  // namespace podere::report
