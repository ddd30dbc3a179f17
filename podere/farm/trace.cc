#include "podere/farm/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/json_fields.h"
#include "podere/base/printable.h"
#include "podere/base/written_json.h"

namespace podere::farm {
namespace {

constexpr double kMostSeconds = 1e9;

double read_seconds(const Json& json, const char* name) {
  double seconds = 0;
  read_json(json, name, seconds);
  if (!(seconds >= 0 && seconds <= kMostSeconds)) {
    throw_input_error("'{}' is {}, which is not from 0 to {:g} seconds", name, json.dump(), kMostSeconds);
  }
  return seconds;
}

/// The members of ClusterModel with their names.
template <typename Model, typename Use>
void for_each_member(Model& model, const Use& use) {
  use("schedule_seconds", model.schedule_seconds);
  use("start_seconds", model.start_seconds);
  use("checkpoint_seconds", model.checkpoint_seconds);
  use("decide_seconds", model.decide_seconds);
  use("end_seconds", model.end_seconds);
  use("until", model.until);
}

void read_model(const Json& json, ClusterModel& model) {
  if (!json.is_object()) throw_input_error("'model' is {}, which is not an object", printable(json.dump()));
  check_members(json,
                {"schedule_seconds", "start_seconds", "checkpoint_seconds", "decide_seconds", "end_seconds", "until"});
  for_each_member(model, [&](const char* name, double& value) {
    if (json.contains(name)) value = read_seconds(json[name], name);
  });
}

/// Reads lines one after the other: what an event leaves unsaid is as it was.
class TraceReader {
 public:
  void read(const Json& json) {
    if (json.contains("model")) {
      check_members(json, {"model"});
      if (!trace_.events.empty()) throw_input_error("the model stands before all events");
      return read_model(json["model"], trace_.model);
    }
    if (!json.contains("at")) throw_input_error("an event has no 'at'");
    const double at = read_seconds(json["at"], "at");
    if (!trace_.events.empty() && at < trace_.events.back().at) {
      throw_input_error("{} s comes after {} s", at, trace_.events.back().at);
    }
    if (json.contains("node") == json.contains("farm")) throw_input_error("an event is of a 'node' or of a 'farm'");
    if (json.contains("node")) {
      trace_.events.push_back({at, read_node(json)});
    } else {
      trace_.events.push_back({at, read_farm(json)});
    }
  }

  Trace finish() {
    if (trace_.events.empty()) throw_input_error("there are no events");
    for (const std::string& name : named_nodes_) {
      if (!nodes_.contains(name))
        throw_input_error("an executor may run on node {}, which never comes", printable(name));
    }
    return std::move(trace_);
  }

 private:
  static std::string read_name(const Json& json, const char* what) {
    std::string name;
    read_json(json[what], what, name);
    if (name.empty()) throw_input_error("a {} has no name", what);
    return name;
  }

  static bool read_flag(const Json& json, const char* name, bool otherwise) {
    if (json.contains(name)) read_json(json[name], name, otherwise);
    return otherwise;
  }

  NodeEvent read_node(const Json& json) {
    NodeEvent event{.name = read_name(json, "node"), .allocatable = {}, .is_gone = read_flag(json, "gone", false)};
    if (event.is_gone) {
      check_members(json, {"at", "node", "gone"});
      if (!nodes_.contains(event.name)) throw_input_error("node {} was never there", printable(event.name));
      return event;
    }
    event.allocatable = read_resources(json, trace_.resources, {"at", "node", "gone"});
    nodes_.insert(event.name);
    return event;
  }

  FarmEvent read_farm(const Json& json) {
    check_members(json, {"at", "farm", "gone", "guaranteed", "wanted", "maximum", "weight", "priority", "gang",
                         "min_runtime_seconds", "drain_seconds", "executor", "pods_made_by_others"});
    const std::string key = read_name(json, "farm");
    const auto [place, is_new] = farms_.try_emplace(key);
    FarmEvent& event = place->second;
    if (is_new || event.is_gone) {
      if (!json.contains("executor")) throw_input_error("farm {} has no 'executor'", printable(key));
      event = {};
      event.farm.key = key;
      event.farm.maximum = kMostExecutors;
      event.farm.drain_seconds = 60;
    }
    if (json.contains("executor")) event.executor = read_executor(json["executor"], trace_.resources);
    named_nodes_.insert(event.executor.nodes.begin(), event.executor.nodes.end());
    event.is_gone = read_flag(json, "gone", false);
    event.has_template = !read_flag(json, "pods_made_by_others", !event.has_template);
    read_farm_members(json, event.farm);
    return event;
  }

  Trace trace_;
  std::map<std::string, FarmEvent> farms_;
  std::set<std::string> nodes_;
  std::set<std::string> named_nodes_;
};

Json event_json(const TraceEvent& event, const std::vector<std::string>& resources) {
  Json json = {{"at", event.at}};
  if (const auto* node = std::get_if<NodeEvent>(&event.what)) {
    json["node"] = node->name;
    if (node->is_gone) json["gone"] = true;
    json.update(resources_json(node->allocatable, resources));
    return json;
  }
  const auto& [farm, executor, has_template, is_gone] = std::get<FarmEvent>(event.what);
  json["farm"] = farm.key;
  if (is_gone) json["gone"] = true;
  json["guaranteed"] = farm.guaranteed;
  json["wanted"] = farm.wanted;
  json["maximum"] = farm.maximum;
  json["weight"] = farm.weight;
  if (farm.priority != 0) json["priority"] = farm.priority;
  if (farm.is_gang) json["gang"] = true;
  json["min_runtime_seconds"] = farm.min_runtime_seconds;
  json["drain_seconds"] = farm.drain_seconds;
  json["executor"] = resources_json(executor.requests, resources);
  if (!executor.nodes.empty()) json["executor"]["nodes"] = executor.nodes;
  if (!has_template) json["pods_made_by_others"] = true;
  return json;
}

}  // namespace

Trace parse_trace(std::string_view text, const std::string& name) {
  TraceReader reader;
  std::size_t line = 0;
  try {
    while (!text.empty()) {
      ++line;
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view words = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      const std::size_t first = words.find_first_not_of(" \t\r");
      if (first == std::string_view::npos || words[first] == '#') continue;
      reader.read(parse_written_object(words));
    }
  } catch (const InputError& error) {
    throw_input_error("{}:{}: {}", name, line, error.what());
  }
  try {
    return reader.finish();
  } catch (const InputError& error) {
    throw_input_error("{}: {}", name, error.what());
  }
}

std::string trace_text(const Trace& trace) {
  Json model = Json::object();
  for_each_member(trace.model, [&](const char* name, double value) { model[name] = value; });
  std::string text = Json{{"model", model}}.dump() + "\n";
  for (const TraceEvent& event : trace.events) text += event_json(event, trace.resources).dump() + "\n";
  return text;
}

}  // namespace podere::farm
