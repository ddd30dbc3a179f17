#include "podere/session/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/printable.h"

namespace podere::session {
namespace {

// One list of fields for each struct serves both directions: `visit(name, member)`.

template <typename Source, typename Visit>
void visit_source(Source& source, Visit&& visit) {
  visit("location", source.location);
  visit("label", source.csv.label);
  visit("weight", source.csv.weight);
  visit("columns", source.csv.columns);
  visit("drop", source.csv.drop);
  visit("categorical", source.csv.categorical);
  visit("delimiter", source.csv.delimiter);
  visit("header", source.csv.header);
  visit("missing", source.csv.missing);
  visit("first_row", source.csv.first_row);
  visit("last_row", source.csv.last_row);
  visit("arrays", source.arrays);
  visit("classes", source.classes);
  visit("format", source.format);
  visit("labels", source.labels);
  visit("n_features", source.n_features);
  visit("zero_based", source.zero_based);
}

template <typename Array, typename Visit>
void visit_array(Array& array, Visit&& visit) {
  visit("url", array.url);
  visit("dtype", array.dtype);
  visit("by_columns", array.by_columns);
}

template <typename Arrays, typename Visit>
void visit_arrays(Arrays& arrays, Visit&& visit) {
  visit("token", arrays.token);
  visit("n_rows", arrays.n_rows);
  visit("features", arrays.features);
  visit("values", arrays.values);
  visit("label", arrays.label);
  visit("weight", arrays.weight);
  visit("label_name", arrays.label_name);
  visit("weight_name", arrays.weight_name);
}

template <typename Job, typename Visit>
void visit_job(Job& job, Visit&& visit) {
  using J = std::remove_const_t<Job>;
  if constexpr (requires { job.table; }) visit("table", job.table);
  if constexpr (std::is_same_v<J, TrainJob>) {
    visit("validation", job.validation);
    visit("options", job.options);
    visit("network", job.network);
    visit("from", job.from);
    visit("low_memory", job.low_memory);
    visit("checkpoint", job.checkpoint);
    visit("checkpoint_seconds", job.checkpoint_seconds);
    visit("checkpoint_steps", job.checkpoint_steps);
    visit("max_steps", job.max_steps);
    visit("tensorboard", job.tensorboard);
    visit("summary_steps", job.summary_steps);
  } else if constexpr (std::is_same_v<J, EvaluateJob>) {
    visit("model", job.model);
    visit("roc_points", job.roc_points);
    visit("rounds", job.rounds);
    visit("staged", job.staged);
  } else if constexpr (std::is_same_v<J, PredictJob>) {
    visit("model", job.model);
    visit("output", job.output);
    visit("margin", job.margin);
    visit("rounds", job.rounds);
  } else if constexpr (std::is_same_v<J, DescribeJob>) {
    visit("label_values", job.label_values);
  } else if constexpr (std::is_same_v<J, ExplainJob>) {
    visit("model", job.model);
    visit("output", job.output);
    visit("permutation_repeats", job.permutation_repeats);
    visit("seed", job.seed);
  } else if constexpr (std::is_same_v<J, SplitJob>) {
    visit("fraction", job.fraction);
    visit("seed", job.seed);
    visit("first", job.first);
    visit("second", job.second);
  } else if constexpr (std::is_same_v<J, TransformJob>) {
    visit("name", job.name);
    visit("first_row", job.first_row);
    visit("last_row", job.last_row);
    visit("where", job.where);
    visit("select", job.select);
    visit("standardise", job.standardise);
    visit("scaling", job.scaling);
  } else if constexpr (std::is_same_v<J, SaveJob>) {
    visit("output", job.output);
  } else if constexpr (std::is_same_v<J, LoadJob>) {
    visit("name", job.name);
    visit("cache", job.cache);
    visit("only_cached", job.only_cached);
    visit("fingerprint", job.fingerprint);
  } else if constexpr (std::is_same_v<J, DropJob>) {
    visit("name", job.name);
  }
}

/// Calls `visit_x(value, visit)` for whichever of the structs above `value` is.
template <typename T, typename Visit>
void visit_fields(T& value, Visit&& visit) {
  using V = std::remove_const_t<T>;
  if constexpr (std::is_same_v<V, SourceSpec>) {
    visit_source(value, visit);
  } else if constexpr (std::is_same_v<V, io::RemoteArrays>) {
    visit_arrays(value, visit);
  } else if constexpr (std::is_same_v<V, io::RemoteArray>) {
    visit_array(value, visit);
  } else if constexpr (std::is_same_v<V, table::Scaling>) {
    visit("mean", value.mean);
    visit("scale", value.scale);
  } else if constexpr (std::is_same_v<V, tree::Options>) {
    visit("objective", value.objective);
    tree::visit_options(value, visit);
  } else if constexpr (std::is_same_v<V, neural::Options>) {
    neural::visit_options(value, visit);
  } else {
    visit_job(value, visit);
  }
}

template <typename T>
constexpr bool is_struct =
    std::is_same_v<T, SourceSpec> || std::is_same_v<T, tree::Options> || std::is_same_v<T, neural::Options> ||
    std::is_same_v<T, table::Scaling> || std::is_same_v<T, io::RemoteArrays> || std::is_same_v<T, io::RemoteArray> ||
    std::is_constructible_v<Job, T>;

template <typename T>
Json write(const T& value);

template <typename T>
Json write(const std::optional<T>& value) {
  return value ? write(*value) : Json();
}

template <typename T>
Json write(const T& value) {
  if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else if constexpr (std::is_enum_v<T>) {
    return to_string(value);
  } else if constexpr (is_struct<T>) {
    Json object = Json::object();
    std::vector<Json> defaults;
    const T unchanged{};
    visit_fields(unchanged, [&](const char*, const auto& member) { defaults.push_back(write(member)); });
    std::size_t i = 0;
    visit_fields(value, [&](const char* name, const auto& member) {
      Json json = write(member);
      // Not by !=, which takes NaN for everything.
      if (!(json == defaults[i++])) object[name] = std::move(json);
    });
    return object;
  } else {
    return value;
  }
}

// Readers: `where` is the path of a value in the job, for messages.

[[noreturn]] void refuse(const std::string& where, const char* allowed, const Json& json) {
  throw_input_error("job: {} must be {}, it is {}", where, allowed, to_text(json));
}

void read(const Json& json, const std::string& where, std::string& value) {
  if (!json.is_string()) refuse(where, "a text", json);
  value = json.get<std::string>();
}

void read(const Json& json, const std::string& where, char& value) {
  if (!json.is_string() || json.get_ref<const std::string&>().size() != 1) refuse(where, "one character", json);
  value = json.get_ref<const std::string&>()[0];
}

void read(const Json& json, const std::string& where, bool& value) {
  if (!json.is_boolean()) refuse(where, "true or false", json);
  value = json.get<bool>();
}

void read(const Json& json, const std::string& where, double& value) {
  if (!json.is_number()) refuse(where, "a number", json);
  value = json.get<double>();
}

template <typename T>
requires std::is_integral_v<T>
void read(const Json& json, const std::string& where, T& value) {
  const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                              : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  if (!fits) refuse(where, std::is_signed_v<T> ? "a whole number" : "a whole number from 0", json);
  value = json.get<T>();
}

void read(const Json& json, const std::string& where, std::vector<double>& value) {
  if (!json.is_array()) refuse(where, "a list of numbers", json);
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], where, value[i]);
}

io::FileFormat parse(const std::string& text, io::FileFormat) { return io::parse_file_format(text); }
tree::Objective parse(const std::string& text, tree::Objective) { return tree::parse_objective(text); }
neural::Initialisation parse(const std::string& text, neural::Initialisation) {
  return neural::parse_initialisation(text);
}
neural::Loss parse(const std::string& text, neural::Loss) { return neural::parse_loss(text); }
neural::Activation parse(const std::string& text, neural::Activation) { return neural::parse_activation(text); }
neural::Optimiser parse(const std::string& text, neural::Optimiser) { return neural::parse_optimiser(text); }
neural::Schedule parse(const std::string& text, neural::Schedule) { return neural::parse_schedule(text); }

template <typename Enum>
requires std::is_enum_v<Enum>
void read(const Json& json, const std::string& where, Enum& value) {
  std::string text;
  read(json, where, text);
  value = parse(text, Enum());
}

void read(const Json& json, const std::string& where, std::vector<int>& value) {
  if (!json.is_array()) refuse(where, "a list of whole numbers", json);
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], where, value[i]);
}

void read(const Json& json, const std::string& where, std::vector<std::string>& value) {
  if (!json.is_array()) refuse(where, "a list of texts", json);
  value.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], where, value[i]);
}

template <typename T>
requires is_struct<T>
void read(const Json& json, const std::string& where, T& value);

template <typename T>
void read(const Json& json, const std::string& where, std::optional<T>& value) {
  if (json.is_null()) return value.reset();
  read(json, where, value.emplace());
}

template <typename T>
requires is_struct<T>
void read(const Json& json, const std::string& where, T& value) {
  if (!json.is_object()) refuse(where, "an object", json);
  std::vector<std::string> known = {"kind"};
  visit_fields(value, [&](const char* name, auto& member) {
    known.emplace_back(name);
    if (const auto found = json.find(name); found != json.end()) read(*found, where + "." + name, member);
  });
  for (const auto& [name, ignored] : json.items()) {
    if (std::ranges::find(known, name) == known.end()) throw_input_error("job: {} has no {}", where, printable(name));
  }
}

template <typename T>
T read_job(const Json& json, const std::string& kind) {
  T job;
  read(json, kind, job);
  if constexpr (requires { job.table; }) {
    if (job.table.location.empty()) throw_input_error("job: {}.table.location is missing", kind);
  }
  return job;
}

// In the order of Job.
constexpr std::array kKinds = {"train", "evaluate", "predict",   "describe", "explain",
                               "load",  "split",    "transform", "save",     "drop"};
static_assert(kKinds.size() == std::variant_size_v<Job>);

template <std::size_t I = 0>
Job read_any(const Json& json, const std::string& kind) {
  if constexpr (I < kKinds.size()) {
    if (kind != kKinds[I]) return read_any<I + 1>(json, kind);
    return read_job<std::variant_alternative_t<I, Job>>(json, kind);
  } else {
    throw_input_error("job: kind must be one of {}", fmt::join(kKinds, ", "));
  }
}

}  // namespace

std::string to_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

double real(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

Json to_json(const Job& job) {
  Json json = {{"kind", kKinds[job.index()]}};
  std::visit([&](const auto& j) { json.update(write(j)); }, job);
  return json;
}

Job job_from_json(const Json& json) {
  std::string kind;
  if (json.is_object() && json.contains("kind")) read(json["kind"], "kind", kind);
  return read_any(json, kind);
}

}  // namespace podere::session
