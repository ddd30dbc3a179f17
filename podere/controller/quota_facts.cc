#include "podere/controller/quota_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/printable.h"
#include "podere/controller/json.h"
#include "podere/controller/pod_needs.h"

namespace podere::controller {
namespace {

bool is_cpu(std::string_view key) { return key == "cpu" || key.ends_with(".cpu"); }

/// Others count what is no pod: whenever that changed, all would be decided anew.
bool is_of_pods(std::string_view key) {
  constexpr std::array kKeys = {"pods", "count/pods", "cpu", "memory", "ephemeral-storage"};
  const bool is_prefixed = key.starts_with("requests.") || key.starts_with("limits.") || key.starts_with("hugepages-");
  return std::ranges::find(kKeys, key) != kKeys.end() || (is_prefixed && key != "requests.storage");
}

Amounts counted_amounts(const Json& quantities) {
  Amounts amounts;
  for (const auto& [key, quantity] : quantities.items()) {
    if (!is_of_pods(key)) continue;
    const std::string text = quantity.is_string() ? quantity.get<std::string>() : quantity.dump();
    const auto amount = parse_quantity(text, is_cpu(key) ? 1000 : 1);
    if (!amount) throw_error("{} of {} is no amount of a resource", printable(text), printable(key));
    amounts[key] = *amount;
  }
  return amounts;
}

/// "3", "500m", "2Gi".
std::string amount_text(const std::string& key, std::int64_t amount) {
  if (is_cpu(key)) return amount % 1000 == 0 ? fmt::format("{}", amount / 1000) : fmt::format("{}m", amount);
  constexpr std::array kSuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  std::size_t step = 0;
  for (; step + 1 < kSuffixes.size() && amount != 0 && amount % 1024 == 0; ++step) amount /= 1024;
  return fmt::format("{}{}", amount, kSuffixes[step]);
}

/// "pods=1,requests.cpu=500m".
std::string amounts_text(const Amounts& amounts, const std::vector<std::string>& keys) {
  std::vector<std::string> parts;
  for (const std::string& key : keys) parts.push_back(key + "=" + amount_text(key, amounts.at(key)));
  return fmt::format("{}", fmt::join(parts, ","));
}

/// Keys of which the quota has not enough left.
std::vector<std::string> lacking_keys(const QuotaFacts& quota, const QuotaCharge& charge) {
  std::vector<std::string> lacking;
  for (const auto& [key, hard] : quota.hard) {
    const auto need = charge.amounts.find(key);
    if (need != charge.amounts.end() && quota.used.at(key) + need->second > hard) lacking.push_back(key);
  }
  return lacking;
}

}  // namespace

QuotaFacts quota_facts_of(const Json& quota) {
  QuotaFacts facts{.hard = counted_amounts(object_at(quota, {"status", "hard"})),
                   .used = counted_amounts(object_at(quota, {"status", "used"}))};
  std::erase_if(facts.hard, [&](const auto& entry) { return !facts.used.contains(entry.first); });
  std::erase_if(facts.used, [&](const auto& entry) { return !facts.hard.contains(entry.first); });
  for (const Json& scope : array_at(object_at(quota, {"spec"}), "scopes")) {
    if (scope.is_string()) facts.scopes.push_back(scope.get<std::string>());
  }
  for (const Json& expression : array_at(object_at(quota, {"spec", "scopeSelector"}), "matchExpressions")) {
    std::string scope(kube::text_at(expression, {"scopeName"}));
    if (const auto op = kube::text_at(expression, {"operator"}); op != "Exists") scope += fmt::format(" {}", op);
    facts.scopes.push_back(std::move(scope));
  }
  return facts;
}

/// Source: k8s.io/kubernetes, pkg/quota/v1/evaluator/core, podComputeUsageHelper.
QuotaCharge quota_charge_of(const Json& pod_spec) {
  QuotaCharge charge{.has_deadline = object_at(pod_spec, {}).contains("activeDeadlineSeconds")};
  const Amounts requests = requests_of(pod_spec);
  const Amounts limits = pod_limits_of(pod_spec);
  for (const auto& [name, amount] : requests) {
    charge.amounts[name] = amount;
    charge.amounts["requests." + name] = amount;
  }
  for (const auto& [name, amount] : limits) charge.amounts["limits." + name] = amount;
  charge.amounts["count/pods"] = 1;
  for (const char* const name : {"cpu", "memory"}) {
    const auto asked = requests.find(name);
    if (asked != requests.end() && asked->second > 0) charge.is_best_effort = false;
  }
  return charge;
}

bool applies(const QuotaFacts& quota, const QuotaCharge& charge) {
  return std::ranges::all_of(quota.scopes, [&](const std::string& scope) {
    return (scope == "NotTerminating" && !charge.has_deadline) || (scope == "Terminating" && charge.has_deadline) ||
           (scope == "NotBestEffort" && !charge.is_best_effort);
  });
}

QuotaRoom::QuotaRoom(const Objects<QuotaFacts>& quotas) {
  for (const auto& [key, quota] : quotas) quotas_.emplace_back(key.name, *quota);
}

std::string QuotaRoom::admit(const QuotaCharge& charge) {
  for (const auto& [name, quota] : quotas_) {
    if (!applies(quota, charge)) continue;
    const std::vector<std::string> lacking = lacking_keys(quota, charge);
    if (lacking.empty()) continue;
    return fmt::format("exceeded quota: {}: requested: {}, used: {}, limited: {}", name,
                       amounts_text(charge.amounts, lacking), amounts_text(quota.used, lacking),
                       amounts_text(quota.hard, lacking));
  }
  for (auto& [name, quota] : quotas_) {
    if (!applies(quota, charge)) continue;
    for (auto& [key, used] : quota.used) {
      if (const auto need = charge.amounts.find(key); need != charge.amounts.end()) used += need->second;
    }
  }
  return "";
}

}  // namespace podere::controller
