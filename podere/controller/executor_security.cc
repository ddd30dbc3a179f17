#include "podere/controller/executor_security.h"

#include <fmt/format.h>

#include <algorithm>

#include "podere/kube/object.h"

namespace podere::controller {
namespace {

constexpr int kOwnerAndGroup = 0440;
constexpr int kEverybody = 0444;  // in the pod, whose user is not known

/// Nonsense is left there, for the API server to refuse it.
void set_default(Json& object, const char* name, const Json& value) {
  if (object.is_object() && (!object.contains(name) || object.at(name).is_null())) object[name] = value;
}

bool is_key_volume(const Json& volume, const std::string& key_secret) {
  return kube::text_at(volume, {"secret", "secretName"}) == key_secret;
}

std::size_t mentions_of(const Json& value, const std::string& text) {
  if (value.is_string()) return value.get_ref<const std::string&>() == text ? 1 : 0;
  std::size_t n = 0;
  if (value.is_structured()) {
    for (const Json& part : value) n += mentions_of(part, text);
  }
  return n;
}

}  // namespace

void secure_executor(Json& spec, const std::string& key_secret) {
  if (!spec.is_object()) return;
  set_default(spec, "automountServiceAccountToken", false);
  set_default(spec, "securityContext", Json::object());
  Json& of_pod = spec["securityContext"];
  set_default(of_pod, "runAsNonRoot", true);
  set_default(of_pod, "seccompProfile", {{"type", "RuntimeDefault"}});
  for (const char* const kind : {"containers", "initContainers"}) {
    if (!spec.contains(kind) || !spec[kind].is_array()) continue;
    for (Json& container : spec[kind]) {
      set_default(container, "securityContext", Json::object());
      if (!container.is_object()) continue;
      set_default(container["securityContext"], "allowPrivilegeEscalation", false);
      set_default(container["securityContext"], "capabilities", {{"drop", {"ALL"}}});
    }
  }
  if (!mounts_keys(spec, key_secret)) return;
  const bool has_group = of_pod.is_object() && of_pod.contains("fsGroup");
  for (Json& volume : spec["volumes"]) {
    if (!is_key_volume(volume, key_secret)) continue;
    volume["secret"]["items"] = Json::array(
        {{{"key", kHostKeyField}, {"path", kHostKeyField}}, {{"key", kPublicKeyField}, {"path", kPublicKeyField}}});
    volume["secret"]["defaultMode"] = has_group ? kOwnerAndGroup : kEverybody;
  }
}

std::string misused_keys(const Json& spec, const std::string& key_secret) {
  std::size_t n_volumes = 0;
  for (const Json& volume : array_at(spec, "volumes")) n_volumes += is_key_volume(volume, key_secret) ? 1 : 0;
  if (mentions_of(spec, key_secret) <= n_volumes) return "";
  return fmt::format(
      "executors may have the secret {} as a volume 'secret: {{secretName: {}}}' only: any other way "
      "would give them the private key of the drivers",
      key_secret, key_secret);
}

bool mounts_keys(const Json& spec, const std::string& key_secret) {
  const Json& volumes = array_at(spec, "volumes");
  return std::ranges::any_of(volumes, [&](const Json& volume) { return is_key_volume(volume, key_secret); });
}

}  // namespace podere::controller
