#include "podere/controller/json.h"

#include <chrono>
#include <cmath>

#include "podere/kube/time.h"

namespace podere::controller {
namespace {

const Json kNoObject = Json::object();
const Json kNoArray = Json::array();

}  // namespace

const Json& object_at(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* const name : path) {
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (found == at->end()) return kNoObject;
    at = &*found;
  }
  return at->is_object() ? *at : kNoObject;
}

const Json& array_at(const Json& object, const char* name) {
  if (!object.is_object()) return kNoArray;
  const auto found = object.find(name);
  return found == object.end() || !found->is_array() ? kNoArray : *found;
}

std::int64_t integer_at(const Json& object, const char* name, std::int64_t otherwise) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() || !found->is_number_integer() ? otherwise : found->get<std::int64_t>();
}

double number_at(const Json& object, const char* name, double otherwise) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found == object.end() || !found->is_number() ? otherwise : found->get<double>();
}

bool flag_at(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && *found == true;
}

const Json* condition_of(const Json& object, std::string_view type) {
  for (const Json& condition : array_at(object_at(object, {"status"}), "conditions")) {
    if (kube::text_at(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

double time_at(const Json& object, std::initializer_list<const char*> path) {
  return seconds_of(kube::text_at(object, path));
}

double seconds_of(std::string_view time) {
  const auto parsed = kube::time_from_text(time);
  return parsed ? std::chrono::duration<double>(parsed->time_since_epoch()).count() : 0;
}

double seconds_now() { return std::chrono::duration<double>(kube::now().time_since_epoch()).count(); }

std::string time_text(double seconds) {
  return kube::to_text(kube::Time(std::chrono::seconds(static_cast<std::int64_t>(std::llround(seconds)))));
}

}  // namespace podere::controller
