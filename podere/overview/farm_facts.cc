#include "podere/overview/farm_facts.h"

#include <string>

namespace podere::overview {
namespace {

const kube::Json& member(const kube::Json& object, const char* name) {
  static const kube::Json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return !object.is_object() || found == object.end() ? kNothing : *found;
}

Json number_of(const kube::Json& value, const Json& absent) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.is_number() ? Json(value.get<double>()) : absent;
}

Json text_of(const kube::Json& value) { return value.is_string() ? Json(value.get<std::string>()) : Json(""); }

bool is_true(const kube::Json& value) { return value.is_boolean() && value.get<bool>(); }

Json condition_of(const kube::Json& condition) {
  return {{"type", text_of(member(condition, "type"))},
          {"holds", member(condition, "status") == "True"},
          {"reason", text_of(member(condition, "reason"))},
          {"message", text_of(member(condition, "message"))},
          {"since", text_of(member(condition, "lastTransitionTime"))}};
}

Json status_of(const kube::Json& status) {
  if (!member(status, "executors").is_number_integer()) return {};
  Json facts = Json::object();
  for (const char* const name : {"executors", "running", "ready", "pending", "terminating"})
    facts[name] = number_of(member(status, name), 0);
  facts["over_guarantee"] = number_of(member(status, "overGuarantee"), 0);
  facts["message"] = text_of(member(status, "message"));
  facts["as_of"] = text_of(member(status, "asOf"));
  Json& conditions = facts["conditions"] = Json::array();
  const kube::Json& all = member(status, "conditions");
  if (all.is_array()) {
    for (const kube::Json& condition : all) conditions.push_back(condition_of(condition));
  }
  return facts;
}

}  // namespace

Json farm_facts(const kube::Json& object) {
  const kube::ObjectKey key = kube::key_of(object);
  const kube::Json& spec = member(object, "spec");
  return {{"namespace", key.in_namespace},
          {"name", key.name},
          {"guaranteed", number_of(member(spec, "minExecutors"), 0)},
          {"wanted", number_of(member(spec, "executors"), {})},
          {"maximum", number_of(member(spec, "maxExecutors"), {})},
          {"priority", number_of(member(spec, "priority"), 0)},
          {"weight", number_of(member(spec, "weight"), 1)},
          {"gang", is_true(member(spec, "gang"))},
          {"makes_pods", member(spec, "template").is_object()},
          {"status", status_of(member(object, "status"))}};
}

}  // namespace podere::overview
