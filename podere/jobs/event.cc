#include "podere/jobs/event.h"

#include <type_traits>
#include <utility>

namespace podere::jobs {
namespace {

constexpr std::size_t kShownBytes = 100;

}  // namespace

template <typename T>
T take(Json& event, const char* name, T fallback) {
  const auto found = event.find(name);
  if (found == event.end()) return fallback;
  bool fits = false;
  if constexpr (std::is_same_v<T, std::string>) fits = found->is_string();
  if constexpr (std::is_same_v<T, Json>) fits = found->is_object();
  if constexpr (std::is_integral_v<T>)
    fits = found->is_number_unsigned() && std::in_range<T>(found->get<std::uint64_t>());
  if constexpr (std::is_same_v<T, Json>) {
    if (fits) return std::move(*found);  // it may be a whole model
  } else if (fits) {
    return found->template get<T>();
  }
  throw_error("the executors answered something else than the protocol has: {} is {}", name,
              to_text(*found).substr(0, kShownBytes));
}

template std::string take(Json&, const char*, std::string);
template Json take(Json&, const char*, Json);
template int take(Json&, const char*, int);
template std::size_t take(Json&, const char*, std::size_t);

Json progress_event(const ProgressStep& step) {
  Json metrics = Json::object();
  for (const auto& [name, value] : step.metrics) metrics[name] = value;
  Json event = {{"event", "progress"},
                {"phase", step.phase},
                {"done", step.done},
                {"total", step.total},
                {"metrics", std::move(metrics)}};
  if (!step.unit.empty()) event["unit"] = step.unit;
  if (!step.search.empty()) event["search"] = step.search;
  return event;
}

ProgressStep step_of(Json& event) {
  ProgressStep step{take(event, "phase", std::string()),
                    take(event, "done", std::size_t{0}),
                    take(event, "total", std::size_t{0}),
                    {}};
  const Json metrics = take(event, "metrics", Json::object());
  for (const auto& [name, value] : metrics.items()) {
    step.metrics.emplace_back(name, real(value));
  }
  step.unit = take(event, "unit", std::string());
  step.search = take(event, "search", Json::object());
  return step;
}

[[noreturn]] void throw_failure(Json& event) {
  const auto message = take<std::string>(event, "message", "a job failed without saying why");
  if (take(event, "kind", std::string()) == "input") throw InputError(message);
  throw Error(message);
}

std::string order_line(const Json& id, const Job& job, const Json& more) {
  Json order = {{"id", id}, {"job", to_json(job)}};
  order.update(more);
  try {
    return order.dump();
  } catch (const Json::type_error&) {
    throw InputError("a file or column name is not UTF-8: rename it");
  }
}

}  // namespace podere::jobs
