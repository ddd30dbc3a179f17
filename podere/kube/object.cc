#include "podere/kube/object.h"

#include "podere/base/error.h"
#include "podere/base/json_text.h"
#include "podere/base/printable.h"

namespace podere::kube {
namespace {

/// Schemas of custom resources are the deepest objects there are, and come to half of this.
constexpr int kMaxDepth = 256;

/// One segment of a path, whose syntax Kubernetes leaves to be "no '.', '..', '/' or '%'"
/// (IsValidPathSegmentName); what URLs do not allow is not in names either.
const std::string& segment(const std::string& text, const char* what) {
  const bool is_safe =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:") == std::string::npos;
  if (!is_safe || text.empty() || text == "." || text == "..") throw_input_error("{} is no {}", printable(text), what);
  return text;
}

}  // namespace

std::string Resource::path(const ObjectKey& key) const {
  std::string path = group.empty() ? "/api/" : "/apis/" + group + "/";
  path += version;
  if (is_namespaced && !key.in_namespace.empty()) path += "/namespaces/" + segment(key.in_namespace, "namespace");
  path += "/" + plural;
  if (!key.name.empty()) path += "/" + segment(key.name, "name of an object");
  if (!part.empty()) path += "/" + part;
  return path;
}

std::string_view text_at(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* const name : path) {
    if (!at->is_object()) return {};
    const auto found = at->find(name);
    if (found == at->end()) return {};
    at = &*found;
  }
  return at->is_string() ? std::string_view(at->get_ref<const std::string&>()) : std::string_view();
}

ObjectKey key_of(const Json& object) {
  return {std::string(text_at(object, {"metadata", "namespace"})), std::string(text_at(object, {"metadata", "name"}))};
}

Json object_of(const Resource& resource, const ObjectKey& key) {
  Json object{{"apiVersion", resource.api_version()}, {"kind", resource.kind}, {"metadata", {{"name", key.name}}}};
  if (resource.is_namespaced) object["metadata"]["namespace"] = key.in_namespace;
  return object;
}

Json parse_object(std::string_view text) {
  if (is_nested_deeper_than(text, kMaxDepth)) throw_error("is nested too deeply");
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) throw_error("is no JSON");
  if (!object.is_object()) throw_error("is no JSON object");
  return object;
}

}  // namespace podere::kube
