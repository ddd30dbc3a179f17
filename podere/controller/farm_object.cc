#include "podere/controller/farm_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "podere/base/error.h"
#include "podere/controller/executor_security.h"
#include "podere/controller/json.h"
#include "podere/controller/pod_facts.h"

namespace podere::controller {
namespace {

std::int32_t count_at(const Json& object, const char* name, std::int64_t otherwise) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(integer_at(object, name, otherwise), 0, 100'000));
}

std::string lacking_requests(const PodNeeds& needs) {
  std::vector<std::string> lacking;
  for (const char* const name : {"cpu", "memory"}) {
    const auto request = needs.requests.find(name);
    if (request == needs.requests.end() || request->second <= 0) lacking.emplace_back(name);
  }
  if (lacking.empty()) return "";
  return fmt::format("the template requests no {0}: its executors count as using none, and too many fit on a node",
                     fmt::join(lacking, " and no "));
}

void note_template(const Json& spec, const kube::ObjectKey& key, NeedsTable& table, FarmObject& farm) {
  const auto found = spec.find("template");
  if (found == spec.end() || !found->is_object()) return;
  farm.pod = std::make_shared<const Json>(*found);
  farm.template_mark = fmt::format("{:016x}", std::hash<std::string>{}(found->dump()));
  try {
    farm.needs = table.share(pod_needs_of(object_at(*found, {"spec"})));
    farm.warning = lacking_requests(*farm.needs);
    farm.fault = misused_keys(object_at(*found, {"spec"}), kube::key_secret_name(key));
    if (!farm.fault.empty()) farm.fault = "the template: " + farm.fault;
  } catch (const Error& error) {
    farm.fault = std::string("the template: ") + error.what();
  }
}

}  // namespace

bool FarmObject::asks_the_same(const FarmObject& other) const {
  return uid == other.uid && generation == other.generation && is_ending == other.is_ending && labels == other.labels;
}

FarmObject farm_object_of(const Json& farm, NeedsTable& table) {
  const Json& spec = object_at(farm, {"spec"});
  const Json& metadata = object_at(farm, {"metadata"});
  FarmObject object{.uid = std::string(kube::uid_of(farm)),
                    .generation = integer_at(metadata, "generation", 0),
                    .is_ending = metadata.contains("deletionTimestamp"),
                    .labels = Labels(object_at(metadata, {"labels"})),
                    .guaranteed = count_at(spec, "minExecutors", 0),
                    .maximum = count_at(spec, "maxExecutors", 100'000),
                    .weight = std::max(1e-3, number_at(spec, "weight", 1)),
                    .priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                        integer_at(spec, "priority", 0), -farm::kHighestPriority, farm::kHighestPriority)),
                    .is_gang = flag_at(spec, "gang"),
                    .min_runtime_seconds = std::max(0.0, number_at(spec, "minRuntimeSeconds", 0)),
                    .drain_seconds = std::max(0.0, number_at(spec, "drainSeconds", 60)),
                    .status = std::make_shared<const Json>(object_at(farm, {"status"}))};
  object.guaranteed = std::min(object.guaranteed, object.maximum);
  if (spec.contains("executors")) object.wanted = count_at(spec, "executors", 0);
  note_template(spec, kube::key_of(farm), table, object);
  if (spec.contains("selector")) object.selector = label_selector_of(spec.at("selector"));
  if (object.selector.requirements.empty()) {
    object.selector.requirements = {{kFarmLabel, Requirement::Operator::kIn, {kube::key_of(farm).name}}};
  }
  return object;
}

farm::Mode mode_named(std::string_view name) {
  if (name == "FairShare") return farm::Mode::kFairShare;
  if (name == "HistoryAware") return farm::Mode::kHistoryAware;
  return farm::Mode::kProportional;
}

ManagerObject manager_object_of(const Json& manager) {
  const Json& spec = object_at(manager, {"spec"});
  ManagerObject object{.uid = std::string(kube::uid_of(manager)),
                       .generation = integer_at(object_at(manager, {"metadata"}), "generation", 0),
                       .farms = label_selector_of(object_at(spec, {"farmSelector"})),
                       .limits = limits_of(spec, kube::key_of(manager).name),
                       .status = std::make_shared<const Json>(object_at(manager, {"status"}))};
  farm::Policy& policy = object.policy;
  policy.mode = mode_named(kube::text_at(spec, {"mode"}));
  policy.share_tolerance = number_at(spec, "shareTolerance", policy.share_tolerance);
  policy.half_life_seconds = std::max(60.0, number_at(spec, "halfLifeSeconds", policy.half_life_seconds));
  policy.stuck_seconds = std::max(1.0, number_at(spec, "stuckSeconds", policy.stuck_seconds));
  policy.pending_pods =
      static_cast<std::int32_t>(std::clamp<std::int64_t>(integer_at(spec, "pendingPodsPerFarm", 0), 0, 1000));
  policy.retry_seconds = std::max(1.0, number_at(spec, "retrySeconds", policy.retry_seconds));
  return object;
}

}  // namespace podere::controller
