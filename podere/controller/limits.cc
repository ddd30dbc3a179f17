#include "podere/controller/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

std::optional<std::int32_t> limit_count_at(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(integer_at(object, name, 0), 0, 100'000));
}

std::optional<double> limit_amount_at(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return std::max(0.0, number_at(object, name, 0));
}

std::optional<double> limit_priority_at(const Json& object, const char* name) {
  if (!object.contains(name)) return std::nullopt;
  return static_cast<double>(
      std::clamp<std::int64_t>(integer_at(object, name, 0), -farm::kHighestPriority, farm::kHighestPriority));
}

std::string_view namespace_of(const farm::Farm& farm) {
  return std::string_view(farm.key).substr(0, farm.key.find('/'));
}

bool names(const Ceiling& ceiling, std::string_view in_namespace) {
  return std::ranges::any_of(ceiling.namespaces, [&](std::string_view name) {
    return name.ends_with('*') ? in_namespace.starts_with(name.substr(0, name.size() - 1)) : in_namespace == name;
  });
}

/// A ceiling, and the farms that are under it together.
struct Place {
  const Ceiling* ceiling;
  std::string words;
  std::vector<std::int32_t> farms = {};
};

std::vector<Place> places_of(const farm::State& state, const Limits& limits) {
  std::vector<Place> places;
  const auto on_manager = [&](const std::string& what) {
    return fmt::format("{} on FarmManager {}", what, limits.manager);
  };
  std::map<std::string_view, std::vector<std::int32_t>> unnamed;
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    unnamed[namespace_of(state.farms[f])].push_back(static_cast<std::int32_t>(f));
  }
  for (const Ceiling& ceiling : limits.ceilings) {
    if (ceiling.namespaces.empty()) continue;
    const bool is_of_one = ceiling.namespaces.size() == 1 && !ceiling.namespaces[0].ends_with('*');
    Place place{&ceiling, on_manager(is_of_one ? "namespace " + ceiling.namespaces[0] : "group " + ceiling.name)};
    for (std::size_t f = 0; f < state.farms.size(); ++f) {
      if (names(ceiling, namespace_of(state.farms[f]))) place.farms.push_back(static_cast<std::int32_t>(f));
    }
    std::erase_if(unnamed, [&](const auto& entry) { return names(ceiling, entry.first); });
    places.push_back(std::move(place));
  }
  for (const Ceiling& ceiling : limits.ceilings) {
    if (!ceiling.namespaces.empty()) continue;
    for (const auto& [name, farms] : unnamed) {
      places.push_back({&ceiling, on_manager(fmt::format("namespace {}", name)), farms});
    }
  }
  return places;
}

/// A number that a farm may have, and the object that sets it.
struct Cap {
  double most;
  std::string words;
};

/// The least of the farm's places; else the manager's.
Cap cap_of(std::int32_t farm, const std::vector<Place>& places, std::optional<double> Ceiling::*member,
           const Cap& of_manager) {
  std::optional<Cap> least;
  for (const Place& place : places) {
    const std::optional<double>& most = place.ceiling->*member;
    if (!most || std::ranges::find(place.farms, farm) == place.farms.end()) continue;
    if (!least || *most < least->most) least = {*most, place.words};
  }
  return least.value_or(of_manager);
}

/// So that those of a place which want executors have together what it allows.
void cut_weights(farm::State& state, const std::vector<Place>& places, Limited& limited) {
  std::vector<Cap> caps;
  for (const farm::Farm& farm : state.farms) caps.push_back({farm.weight, ""});
  for (const Place& place : places) {
    if (!place.ceiling->weight) continue;
    double sum = 0;
    for (const std::int32_t f : place.farms) {
      const farm::Farm& farm = state.farms[static_cast<std::size_t>(f)];
      if (farm.wanted > 0) sum += farm.weight;
    }
    for (const std::int32_t f : place.farms) {
      const auto index = static_cast<std::size_t>(f);
      const double share = state.farms[index].weight * *place.ceiling->weight / std::max(sum, *place.ceiling->weight);
      if (share < caps[index].most) caps[index] = {share, place.words};
    }
  }
  for (std::size_t f = 0; f < caps.size(); ++f) {
    if (caps[f].words.empty()) continue;
    limited.remarks[f].push_back(fmt::format("weight {:g} counts as {:g}: the ceiling of {}", state.farms[f].weight,
                                             caps[f].most, caps[f].words));
    state.farms[f].weight = std::max(1e-6, caps[f].most);
  }
}

template <typename Number>
void cut(Number& number, const char* name, const Cap& cap, std::vector<std::string>& remarks) {
  const auto asked = static_cast<double>(number);
  if (asked <= cap.most) return;
  remarks.push_back(fmt::format("{} {:.0f} counts as {:.0f}: the ceiling of {}", name, asked, cap.most, cap.words));
  number = static_cast<Number>(cap.most);
}

}  // namespace

Limits limits_of(const Json& spec, const std::string& manager) {
  Limits limits{.manager = manager};
  limits.drain_seconds = std::max(0.0, number_at(spec, "maxDrainSeconds", limits.drain_seconds));
  limits.min_runtime_seconds = std::max(0.0, number_at(spec, "maxMinRuntimeSeconds", limits.min_runtime_seconds));
  limits.priority = limit_priority_at(spec, "maxPriority").value_or(limits.priority);
  for (const Json& ceiling : array_at(spec, "ceilings")) {
    Ceiling& made =
        limits.ceilings.emplace_back(Ceiling{.name = std::string(kube::text_at(ceiling, {"name"})),
                                             .namespaces = {},
                                             .guaranteed = limit_count_at(ceiling, "minExecutors"),
                                             .maximum = limit_count_at(ceiling, "maxExecutors"),
                                             .weight = limit_amount_at(ceiling, "weight"),
                                             .drain_seconds = limit_amount_at(ceiling, "drainSeconds"),
                                             .min_runtime_seconds = limit_amount_at(ceiling, "minRuntimeSeconds"),
                                             .priority = limit_priority_at(ceiling, "priority")});
    for (const Json& name : array_at(ceiling, "namespaces")) {
      if (name.is_string()) made.namespaces.push_back(name.get<std::string>());
    }
  }
  return limits;
}

Limited apply_limits(farm::State& state, const Limits& limits) {
  const std::vector<Place> places = places_of(state, limits);
  for (const Place& place : places) {
    if (!place.ceiling->guaranteed && !place.ceiling->maximum) continue;
    state.ceilings.push_back({place.words, place.farms, place.ceiling->guaranteed.value_or(farm::kNoCeiling),
                              place.ceiling->maximum.value_or(farm::kNoCeiling)});
  }
  Limited limited{.drain_seconds = {}, .remarks = std::vector<std::vector<std::string>>(state.farms.size())};
  cut_weights(state, places, limited);
  const std::string words = limits.manager.empty() ? "farms without a FarmManager" : "FarmManager " + limits.manager;
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    farm::Farm& farm = state.farms[f];
    const auto index = static_cast<std::int32_t>(f);
    const Cap runtime = cap_of(index, places, &Ceiling::min_runtime_seconds, {limits.min_runtime_seconds, words});
    cut(farm.min_runtime_seconds, "minRuntimeSeconds", runtime, limited.remarks[f]);
    const Cap drain = cap_of(index, places, &Ceiling::drain_seconds, {limits.drain_seconds, words});
    cut(farm.drain_seconds, "drainSeconds", drain, limited.remarks[f]);
    limited.drain_seconds.push_back(drain.most);
    const Cap priority = cap_of(index, places, &Ceiling::priority, {limits.priority, words});
    cut(farm.priority, "priority", priority, limited.remarks[f]);
  }
  return limited;
}

}  // namespace podere::controller
