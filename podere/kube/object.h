// What the API server keeps: kinds of objects, and their names.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace podere::kube {

using Json = nlohmann::json;

/// The name of an object. Cluster-wide ones have no namespace.
struct ObjectKey {
  std::string in_namespace;
  std::string name;

  bool operator==(const ObjectKey&) const = default;
  bool operator<(const ObjectKey& other) const {
    return std::tie(in_namespace, name) < std::tie(other.in_namespace, other.name);
  }
  /// "namespace/name", or "name".
  std::string text() const { return in_namespace.empty() ? name : in_namespace + "/" + name; }
};

/// A kind of objects and where the API server keeps them.
struct Resource {
  std::string group;    ///< empty: the core group
  std::string version;  ///< such as "v1"
  std::string kind;     ///< such as "Pod"
  std::string plural;   ///< such as "pods"
  bool is_namespaced = true;
  std::string part = {};  ///< subresource, such as "status"; empty: the objects themselves

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  /// The same objects by one of their subresources: client.apply(kFarms.sub("status"), ...).
  Resource sub(std::string name) const {
    Resource resource = *this;
    resource.part = std::move(name);
    return resource;
  }
  /// Path on the server of one object, or of all in a namespace (no name), or of all there are (neither).
  /// Throws InputError for a name that would lead to another path.
  std::string path(const ObjectKey& key) const;
};

inline const Resource kPods{"", "v1", "Pod", "pods"};
inline const Resource kNodes{"", "v1", "Node", "nodes", false};
inline const Resource kNamespaces{"", "v1", "Namespace", "namespaces", false};
inline const Resource kSecrets{"", "v1", "Secret", "secrets"};
inline const Resource kConfigMaps{"", "v1", "ConfigMap", "configmaps"};
inline const Resource kServices{"", "v1", "Service", "services"};
inline const Resource kEvents{"", "v1", "Event", "events"};
inline const Resource kResourceQuotas{"", "v1", "ResourceQuota", "resourcequotas"};
inline const Resource kLeases{"coordination.k8s.io", "v1", "Lease", "leases"};

/// The words at a path such as {"metadata", "uid"}; empty where there are none. The view is into `object`.
std::string_view text_at(const Json& object, std::initializer_list<const char*> path);

ObjectKey key_of(const Json& object);
inline std::string_view uid_of(const Json& object) { return text_at(object, {"metadata", "uid"}); }
/// Opaque: only equality means something.
inline std::string_view resource_version_of(const Json& object) {
  return text_at(object, {"metadata", "resourceVersion"});
}

/// {"apiVersion": ..., "kind": ..., "metadata": {"namespace": ..., "name": ...}}, to be completed.
Json object_of(const Resource& resource, const ObjectKey& key);

/// An object of outside. Throws Error, whose message says what is wrong with it, for text that is no JSON object or is
/// nested deeper than any object of Kubernetes.
Json parse_object(std::string_view text);

}  // namespace podere::kube

template <>
struct std::hash<podere::kube::ObjectKey> {
  std::size_t operator()(const podere::kube::ObjectKey& key) const noexcept {
    const std::hash<std::string> hash_of;
    return hash_of(key.in_namespace) * 31 + hash_of(key.name);
  }
};
