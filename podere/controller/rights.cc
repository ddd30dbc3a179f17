#include "podere/controller/rights.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <vector>

#include "podere/base/error.h"
#include "podere/controller/farm_object.h"

namespace podere::controller {
namespace {

enum class Where { kCluster, kFarms, kLeases, kLease };

struct Right {
  const char* verb;
  const char* group;
  const char* resource;  // perhaps with its subresource
  Where where = Where::kCluster;
};

constexpr std::array kOperatorRights = {
    Right{"list", "podere.dev", "farms"},
    Right{"watch", "podere.dev", "farms"},
    Right{"list", "podere.dev", "farmmanagers"},
    Right{"watch", "podere.dev", "farmmanagers"},
    Right{"patch", "podere.dev", "farmmanagers/status"},
    Right{"list", "podere.dev", "whatifs"},
    Right{"watch", "podere.dev", "whatifs"},
    Right{"list", "", "nodes"},
    Right{"watch", "", "nodes"},
    // Of all namespaces: what others run uses room too.
    Right{"list", "", "pods"},
    Right{"watch", "", "pods"},
    Right{"patch", "podere.dev", "farms/status", Where::kFarms},
    // To name a farm as an owner that cannot go before its pods.
    Right{"update", "podere.dev", "farms/finalizers", Where::kFarms},
    Right{"patch", "podere.dev", "whatifs/status", Where::kFarms},
    Right{"delete", "podere.dev", "whatifs", Where::kFarms},
    Right{"get", "", "pods", Where::kFarms},
    Right{"create", "", "pods", Where::kFarms},
    Right{"patch", "", "pods", Where::kFarms},
    Right{"delete", "", "pods", Where::kFarms},
    Right{"create", "", "secrets", Where::kFarms},
    Right{"create", "", "events", Where::kFarms},
    Right{"patch", "", "events", Where::kFarms},
    Right{"create", "coordination.k8s.io", "leases", Where::kLeases},  // of which RBAC knows no names
    Right{"get", "coordination.k8s.io", "leases", Where::kLease},
    Right{"update", "coordination.k8s.io", "leases", Where::kLease},
};

// Without them it works too.
constexpr std::array kQuotaRights = {
    Right{"list", "", "resourcequotas"},
    Right{"watch", "", "resourcequotas"},
};

bool may(kube::Client& client, const Right& right, const std::string& in_namespace, const std::string& name) {
  static const kube::Resource kReviews{"authorization.k8s.io", "v1", "SelfSubjectAccessReview",
                                       "selfsubjectaccessreviews", false};
  const std::string resource = right.resource;
  const auto slash = resource.find('/');
  kube::Json attributes = {{"verb", right.verb}, {"group", right.group}, {"resource", resource.substr(0, slash)}};
  if (slash != std::string::npos) attributes["subresource"] = resource.substr(slash + 1);
  if (!in_namespace.empty()) attributes["namespace"] = in_namespace;
  if (!name.empty()) attributes["name"] = name;
  const kube::Json answer = client.create(kReviews, {{"apiVersion", "authorization.k8s.io/v1"},
                                                     {"kind", "SelfSubjectAccessReview"},
                                                     {"metadata", kube::Json::object()},
                                                     {"spec", {{"resourceAttributes", attributes}}}});
  const auto status = answer.find("status");
  return status != answer.end() && status->value("allowed", false);
}

std::vector<std::string> lacking_rights(kube::Client& client, std::span<const Right> rights,
                                        const OperatorPlaces& places) {
  const std::vector<std::string> everywhere = {""};
  std::vector<std::string> lacking;
  for (const Right& right : rights) {
    const bool is_of_leases = right.where == Where::kLeases || right.where == Where::kLease;
    const bool is_of_some = right.where == Where::kFarms && !places.namespaces.empty();
    const std::vector<std::string> of_lease = {places.lease.in_namespace};
    for (const std::string& in_namespace : is_of_leases ? of_lease : is_of_some ? places.namespaces : everywhere) {
      if (may(client, right, in_namespace, right.where == Where::kLease ? places.lease.name : "")) continue;
      lacking.push_back(fmt::format("{} {}{}", right.verb, right.resource,
                                    in_namespace.empty() ? "" : " of namespace " + in_namespace));
    }
  }
  return lacking;
}

void check_kinds(kube::Client& client) {
  try {
    for (const kube::Resource& resource : {kFarms, kFarmManagers, kube::kWhatIfs}) {
      client.ask("/apis/" + resource.group + "/" + resource.version + "/" + resource.plural + "?limit=1");
    }
  } catch (const kube::ApiError& error) {
    if (!error.is_not_found()) throw;
    throw_input_error("{}: the cluster does not know farms; define them with kubectl apply -f deploy/chart/crds",
                      client.access().origin);
  }
}

}  // namespace

void check_operator(kube::Client& client, const OperatorPlaces& places) {
  const std::vector<std::string> lacking = lacking_rights(client, kOperatorRights, places);
  if (!lacking.empty()) {
    throw_input_error("{}: may not {}; deploy/operator.yaml names what the operator needs", client.access().origin,
                      fmt::join(lacking, ", "));
  }
  check_kinds(client);
}

bool may_watch_quotas(kube::Client& client) { return lacking_rights(client, kQuotaRights, {}).empty(); }

}  // namespace podere::controller
