#include "podere/controller/rights.h"

#include <fmt/format.h>

#include <array>
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

constexpr std::array kRights = {
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

}  // namespace

void check_cluster(kube::Client& client, const std::string& lease_namespace) {
  const kube::Resource reviews{"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
                               false};
  std::vector<std::string> lacking;
  for (const Right& right : kRights) {
    const kube::Json answer = client.create(reviews, review_of(right, lease_namespace));
    const auto status = answer.find("status");
    if (status != answer.end() && status->value("allowed", false)) continue;
    lacking.push_back(fmt::format("{} {}", right.verb, right.resource));
  }
  if (!lacking.empty()) {
    throw_input_error("{}: may not {}; deploy/rbac.yaml names what the operator needs", client.access().origin,
                      fmt::join(lacking, ", "));
  }
  try {
    client.ask("/apis/" + kFarms.group + "/" + kFarms.version + "/" + kFarms.plural + "?limit=1");
    client.ask("/apis/" + kFarms.group + "/" + kFarms.version + "/" + kFarmManagers.plural + "?limit=1");
  } catch (const kube::ApiError& error) {
    if (!error.is_not_found()) throw;
    throw_input_error("{}: the cluster does not know farms; tell it with kubectl apply -f deploy/crds",
                      client.access().origin);
  }
}

}  // namespace podere::controller
