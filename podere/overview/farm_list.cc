#include "podere/overview/farm_list.h"

#include <chrono>
#include <map>
#include <thread>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/kube/farm_kinds.h"
#include "podere/overview/farm_facts.h"

namespace podere::overview {
namespace {

constexpr auto kBetweenAnswerLooks = std::chrono::milliseconds(50);
constexpr std::size_t kMostErrorBytes = 500;

kube::Json object_of(const Question& question) {
  kube::Json object = kube::object_of(kube::kWhatIfs, {question.farm.in_namespace, ""});
  object["metadata"].erase("name");
  object["metadata"]["generateName"] = "what-if-";
  object["spec"] = {{"farm", question.farm.name}, {"executors", question.executors}};
  if (!question.mode.empty()) object["spec"]["mode"] = question.mode;
  return object;
}

kube::Json begin_to_ask(kube::Client& client, const Question& question) {
  const kube::ObjectKey& farm = question.farm;
  try {
    return client.create(kube::kWhatIfs, object_of(question));
  } catch (const kube::ApiError& error) {
    if (error.is_forbidden()) {
      throw_input_error(
          "you may not ask about farms of namespace {}: deploy/farm-user.sh {} USER gives this, or, of all "
          "namespaces, the cluster role podere-farm-observer",
          farm.in_namespace, farm.text());
    }
    if (!error.is_not_found()) throw;
    throw_input_error(
        "{}: there is no namespace {}, or the cluster does not know the kind WhatIf: kubectl apply -f "
        "deploy/chart/crds",
        client.access().origin, farm.in_namespace);
  }
}

/// One that stays is no reason to hide what came of it: operators delete what is a minute old.
void delete_question(kube::Client& client, const kube::ObjectKey& key) {
  try {
    client.remove(kube::kWhatIfs, key);
  } catch (const Error&) {
  }
}

}  // namespace

Json list_farms(kube::Client& client, const std::string& in_namespace, const std::stop_token& stop) {
  std::map<kube::ObjectKey, Json> farms;
  try {
    client.list_each(
        kube::kFarms, {.in_namespace = in_namespace}, {.resource_version = "0"}, [&] { farms.clear(); },
        [&](const kube::Json& object) { farms[kube::key_of(object)] = farm_facts(object); }, stop);
  } catch (const kube::ApiError& error) {
    if (error.is_forbidden()) {
      throw_input_error(
          "you may not see the farms of {}: deploy/farm-user.sh NAMESPACE/FARM USER gives this for a namespace, the "
          "cluster role podere-farm-observer for all",
          in_namespace.empty() ? "all namespaces" : "namespace " + in_namespace);
    }
    if (!error.is_not_found()) throw;
    throw_input_error("{}: the cluster does not know the kind Farm: kubectl apply -f deploy/chart/crds",
                      client.access().origin);
  }
  Json all = Json::array();
  for (auto& [key, facts] : farms) all.push_back(std::move(facts));
  return all;
}

Json ask_what_if(kube::Client& client, const Question& question) {
  kube::Json what_if = begin_to_ask(client, question);
  const kube::ObjectKey key = kube::key_of(what_if);
  for (const Stopwatch watch; !what_if.contains("status"); std::this_thread::sleep_for(kBetweenAnswerLooks)) {
    if (watch.seconds() > question.patience_seconds) {
      delete_question(client, key);
      throw_input_error("no operator answers for namespace {} ({}): podere operator has to run in the cluster",
                        question.farm.in_namespace, client.access().origin);
    }
    what_if = client.get(kube::kWhatIfs, key);
  }
  delete_question(client, key);
  const kube::Json& status = what_if.at("status");
  if (status.contains("error"))
    throw_input_error("{}", printable_line(kube::text_at(status, {"error"}), kMostErrorBytes));
  return {{"text", std::string(kube::text_at(status, {"text"}))}, {"answer", Json(status.at("answer"))}};
}

}  // namespace podere::overview
