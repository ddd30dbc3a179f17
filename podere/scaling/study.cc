#include "podere/scaling/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/json_fields.h"
#include "podere/base/json_text.h"

namespace podere::scaling {
namespace {

constexpr const char* kScaleFormat = "podere_scale";
constexpr int kScaleVersion = 1;
constexpr int kMost = 10000;  // executors, cores
constexpr double kLeastSeconds = 1e-9, kMostSeconds = 1e9;

/// Of at least one value.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

template <typename Value>
double median_of(const std::vector<Run>& runs, const Value& value) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(value(run));
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

Point point_of(const std::vector<Run>& runs) {
  Point point{.executors = runs.front().executors, .cores = runs.front().cores, .n_runs = runs.size()};
  const auto seconds = [](const Run& run) { return run.seconds; };
  point.seconds = median_of(runs, seconds);
  point.least_seconds = std::ranges::min(runs, {}, seconds).seconds;
  point.most_seconds = std::ranges::max(runs, {}, seconds).seconds;
  point.wait_share = median_of(runs, [](const Run& run) { return run.wait_share; });
  for (const PhaseSeconds& phase : runs.front().phases) {
    point.phases.push_back({phase.phase, median_of(runs, [&](const Run& run) {
                              const auto found = std::ranges::find(run.phases, phase.phase, &PhaseSeconds::phase);
                              return found == run.phases.end() ? 0 : found->seconds;
                            })});
  }
  for (const Run& run : runs) point.peak_memory_bytes = std::max(point.peak_memory_bytes, run.peak_memory_bytes);
  return point;
}

/// Nothing for text that is no study, or is cut off.
std::optional<Json> json_of_study(const std::string& text) {
  if (is_nested_deeper_than(text, kMaxJsonDepth)) return std::nullopt;
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains(kScaleFormat)) return std::nullopt;
  return json;
}

Study read_study(Json json, const std::string& name) {
  for (const char* derived :
       {kScaleFormat, "version", "name", "same_results", "points", "model", "suggestion", "papers"}) {
    json.erase(derived);
  }
  Study study;
  read_json(json, name, study);
  for (const Run& run : study.runs) {
    const bool is_sound = run.executors > 0 && run.executors <= kMost && run.cores > 0 && run.cores <= kMost &&
                          run.seconds >= kLeastSeconds && run.seconds <= kMostSeconds;
    if (!is_sound) throw_input_error("{}: is damaged: a run has no executors, no cores or no seconds", name);
  }
  if (study.network && !(study.network->latency_us >= 0 && study.network->gigabits > 0)) {
    throw_input_error("{}: is damaged: its network has no speed", name);
  }
  return study;
}

}  // namespace

std::string to_string(const Shape& shape) { return fmt::format("{} × {}", shape.executors, shape.cores); }

Json to_json(const Point& point) {
  Json phases = Json::array();
  for (const PhaseSeconds& phase : point.phases) phases.push_back(whole_json_of(phase));
  Json json = {{"executors", point.executors}, {"cores", point.cores},          {"total_cores", point.total_cores()},
               {"modeled", point.is_modeled},  {"n_runs", point.n_runs},        {"seconds", point.seconds},
               {"speed_up", point.speed_up},   {"efficiency", point.efficiency}};
  if (point.is_modeled) return json;
  json["least_seconds"] = point.least_seconds;
  json["most_seconds"] = point.most_seconds;
  json["wait_share"] = point.wait_share;
  json["phases"] = std::move(phases);
  json["peak_memory_bytes"] = point.peak_memory_bytes;
  return json;
}

Json to_json(const Study& study) {
  Json json = {{kScaleFormat, kScaleVersion}, {"version", PODERE_VERSION}};
  json.update(whole_json_of(study));
  const auto same = has_same_results(study);
  json["same_results"] = same ? Json(*same) : Json();
  json["points"] = Json::array();
  for (const Point& point : points_of(study)) json["points"].push_back(to_json(point));
  return json;
}

Study study_of_text(const std::string& text, const std::string& name) {
  const auto json = json_of_study(text);
  if (!json) throw_input_error("{}: is no study of podere scale", name);
  if (json->value(kScaleFormat, Json()) != kScaleVersion || json->value("version", Json()) != PODERE_VERSION) {
    throw_input_error("{}: was measured by another version of Podere, whose times are not comparable", name);
  }
  return read_study(*json, name);
}

std::optional<Json> study_to_show(const std::string& text, const std::string& name) {
  auto json = json_of_study(text);
  if (!json) return std::nullopt;
  if ((*json)[kScaleFormat] != kScaleVersion) {
    throw_input_error("{}: is a study in form {}; this Podere reads form {}", name, to_text((*json)[kScaleFormat]),
                      kScaleVersion);
  }
  read_study(*json, name);
  return json;
}

void compare(Point& point, const Point& base, bool is_weak) {
  const double times_as_fast = base.seconds / point.seconds;
  const double times_as_many = static_cast<double>(point.total_cores()) / base.total_cores();
  point.speed_up = is_weak ? times_as_fast * times_as_many : times_as_fast;
  point.efficiency = point.speed_up / times_as_many;
}

std::vector<Point> points_of(const Study& study) {
  std::map<std::tuple<int, int>, std::vector<Run>> by_point;  // cores in all, executors
  for (const Run& run : study.runs) by_point[{run.executors * run.cores, run.executors}].push_back(run);
  std::vector<Point> points;
  for (const auto& [key, runs] : by_point) {
    Point point = point_of(runs);
    compare(point, points.empty() ? point : points.front(), study.weak_rows.has_value());
    points.push_back(std::move(point));
  }
  return points;
}

std::optional<bool> has_same_results(const Study& study) {
  if (study.weak_rows || study.runs.empty() || study.runs.front().sha256.empty()) return std::nullopt;
  const std::string& first = study.runs.front().sha256;
  return std::ranges::all_of(study.runs, [&](const Run& run) { return run.sha256 == first; });
}

}  // namespace podere::scaling
