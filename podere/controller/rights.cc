#include "podere/controller/rights.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "podere/base/error.h"
#include "podere/controller/farm_object.h"

namespace podere::controller {
namespace {

struct Right {
  const char* verb;
  const char* group;
  const char* resource;  // perhaps with its part
  bool is_of_lease = false;
};

constexpr std::array kOperatorRights = {
    Right{"list", "podere.dev", "farms"},
    Right{"watch", "podere.dev", "farms"},
    Right{"patch", "podere.dev", "farms/status"},
    // To name a farm as an owner that cannot go before its pods.
    Right{"update", "podere.dev", "farms/finalizers"},
    Right{"list", "podere.dev", "farmmanagers"},
    Right{"watch", "podere.dev", "farmmanagers"},
    Right{"patch", "podere.dev", "farmmanagers/status"},
    Right{"list", "", "pods"},
    Right{"watch", "", "pods"},
    Right{"get", "", "pods"},
    Right{"create", "", "pods"},
    Right{"patch", "", "pods"},
    Right{"delete", "", "pods"},
    Right{"create", "", "secrets"},
    Right{"list", "", "nodes"},
    Right{"watch", "", "nodes"},
    Right{"create", "", "events"},
    Right{"patch", "", "events"},
    Right{"get", "coordination.k8s.io", "leases", true},
    Right{"create", "coordination.k8s.io", "leases", true},
    Right{"update", "coordination.k8s.io", "leases", true},
};

constexpr std::array kReaderRights = {
    Right{"list", "podere.dev", "farms"},
    Right{"list", "podere.dev", "farmmanagers"},
    Right{"list", "", "pods"},
    Right{"list", "", "nodes"},
};

kube::Json review_of(const Right& right, const std::string& lease_namespace) {
  const std::string resource = right.resource;
  const auto slash = resource.find('/');
  kube::Json attributes = {{"verb", right.verb}, {"group", right.group}, {"resource", resource.substr(0, slash)}};
  if (slash != std::string::npos) attributes["subresource"] = resource.substr(slash + 1);
  if (right.is_of_lease) attributes["namespace"] = lease_namespace;
  return {{"apiVersion", "authorization.k8s.io/v1"},
          {"kind", "SelfSubjectAccessReview"},
          {"metadata", kube::Json::object()},
          {"spec", {{"resourceAttributes", attributes}}}};
}

void check_rights(kube::Client& client, std::span<const Right> rights, const std::string& lease_namespace,
                  const char* advice) {
  const kube::Resource reviews{"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
                               false};
  std::vector<std::string> lacking;
  for (const Right& right : rights) {
    const kube::Json answer = client.create(reviews, review_of(right, lease_namespace));
    const auto status = answer.find("status");
    if (status != answer.end() && status->value("allowed", false)) continue;
    lacking.push_back(fmt::format("{} {}", right.verb, right.resource));
  }
  if (lacking.empty()) return;
  throw_input_error("{}: may not {}{}; {}", client.access().origin, fmt::join(lacking, ", "),
                    lease_namespace.empty() ? " of all namespaces" : "", advice);
}

void check_kinds(kube::Client& client) {
  try {
    client.ask("/apis/" + kFarms.group + "/" + kFarms.version + "/" + kFarms.plural + "?limit=1");
    client.ask("/apis/" + kFarms.group + "/" + kFarms.version + "/" + kFarmManagers.plural + "?limit=1");
  } catch (const kube::ApiError& error) {
    if (!error.is_not_found()) throw;
    throw_input_error("{}: the cluster does not know farms; tell it with kubectl apply -f deploy/chart/crds",
                      client.access().origin);
  }
}

}  // namespace

void check_operator(kube::Client& client, const std::string& lease_namespace) {
  check_rights(client, kOperatorRights, lease_namespace, "deploy/operator.yaml names what the operator needs");
  check_kinds(client);
}

void check_reader(kube::Client& client) {
  check_rights(client, kReaderRights, "", "the cluster role podere-farm-observer gives this");
  check_kinds(client);
}

}  // namespace podere::controller
