#include "podere/kube/access.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "podere/base/error.h"
#include "podere/kube/expiry.h"
#include "podere/kube/files.h"
#include "podere/kube/kubeconfig.h"

namespace podere::kube {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Kubeconfig read_kubeconfig(const fs::path& path) {
  const fs::path whole = fs::absolute(path);
  return parse_kubeconfig(read_small_file(whole), whole.string());
}

/// The files of a list like PATH. Those that are missing are passed over, as by kubectl.
Kubeconfig read_list(const std::string& list) {
  Kubeconfig merged;
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(':', begin), list.size());
    const std::string file = list.substr(begin, end - begin);
    if (!file.empty() && is_there(file)) merged.add(read_kubeconfig(file));
    begin = end + 1;
  }
  if (merged.files.empty()) throw_input_error("KUBECONFIG={}: there is no such file", list);
  return merged;
}

}  // namespace

Access find_access(const AccessOptions& options) {
  const auto select = [&](const Kubeconfig& config) {
    return access_of(config, options.context, options.in_namespace);
  };
  if (!options.kubeconfig.empty()) return select(read_kubeconfig(options.kubeconfig));
  if (const auto list = environment("KUBECONFIG"); !list.empty()) return select(read_list(list));
  const std::string file = environment("HOME") + "/.kube/config";
  if (is_there(file)) return select(read_kubeconfig(file));
  if (environment("KUBERNETES_SERVICE_HOST").empty()) {
    throw_input_error(
        "no cluster is known: there is no {}, KUBECONFIG is not set, and this process runs in no pod; ask the "
        "cluster's "
        "administrator for a kubeconfig file",
        file);
  }
  if (!options.context.empty()) {
    throw_input_error("there is no context '{}': this pod has a service account and no {}", options.context, file);
  }
  Access access = pod_access();
  if (!options.in_namespace.empty()) access.in_namespace = options.in_namespace;
  return access;
}

Access pod_access(const std::string& folder) {
  std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    throw InputError("this process runs in no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";  // IPv6
  Access access{.server = fmt::format("https://{}:{}", host, port), .origin = "the service account of this pod"};
  access.authority = read_small_file(folder + "/ca.crt");
  try {
    expiry_of_certificate(access.authority);
  } catch (const InputError& error) {
    throw_input_error("{}/ca.crt {}", folder, error.what());
  }
  if (is_there(folder + "/namespace")) access.in_namespace = trimmed(read_small_file(folder + "/namespace"));
  access.credentials = make_credentials(Credentials{}, {.token = folder + "/token"});
  return access;
}

}  // namespace podere::kube
