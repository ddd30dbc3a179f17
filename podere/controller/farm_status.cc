#include "podere/controller/farm_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "podere/controller/json.h"

namespace podere::controller {
namespace {

constexpr std::size_t kNamedPods = 3;

/// What executors wait for, in a word. Empty: for nothing.
std::string reason_of(const farm::Waiting& waiting) {
  return waiting.for_drain > 0        ? "WaitsForDrain"
         : waiting.for_runtime > 0    ? "WaitsForRunTime"
         : waiting.for_retry > 0      ? "RoomWentToOthers"
         : waiting.for_start > 0      ? "Starts"
         : waiting.for_gang > 0       ? "NoRoomForGang"
         : waiting.too_large > 0      ? "FitsNowhere"
         : waiting.held_by_others > 0 ? "HeldByOthers"
         : waiting.for_room > 0       ? "NoRoom"
                                      : "";
}

Condition guarantee_condition(const farm::Outlook& outlook, std::int32_t asked, const std::string& blocked_because) {
  const std::string counts =
      fmt::format("{} of {} guaranteed executors that are wanted have a node", std::min(outlook.held, asked), asked);
  if (outlook.held >= asked) return {"GuaranteeMet", true, "Met", counts};
  const std::string reason = reason_of(outlook.guarantee);
  if (!reason.empty()) return {"GuaranteeMet", false, reason, counts};
  return {"GuaranteeMet", false, outlook.demand < asked ? blocked_because : "GuaranteesExceedCluster", counts};
}

Condition ready_condition(const farm::Outlook& outlook, std::int32_t n_ready, std::int32_t wanted,
                          const std::string& blocked_because) {
  const std::string counts = fmt::format("{} of {} wanted executors are ready", n_ready, wanted);
  if (n_ready >= wanted) return {"Ready", true, "AllReady", counts};
  for (const farm::Waiting& waiting : {outlook.guarantee, outlook.beyond}) {
    if (const std::string reason = reason_of(waiting); !reason.empty()) return {"Ready", false, reason, counts};
  }
  return {"Ready", false, outlook.demand < wanted ? blocked_because : "Starts", counts};
}

Json conditions_json(const std::vector<Condition>& conditions, std::int64_t generation, const Json& before,
                     double now) {
  Json all = Json::array();
  for (const Condition& condition : conditions) {
    const char* const status = condition.holds ? "True" : "False";
    std::string since = time_text(now);
    for (const Json& old : array_at(before, "conditions")) {
      const bool is_same = kube::text_at(old, {"type"}) == condition.type && kube::text_at(old, {"status"}) == status;
      if (is_same) since = kube::text_at(old, {"lastTransitionTime"});
    }
    all.push_back({{"type", condition.type},
                   {"status", status},
                   {"observedGeneration", generation},
                   {"lastTransitionTime", since},
                   {"reason", condition.reason},
                   {"message", condition.message}});
  }
  return all;
}

/// "within 57 s" and "within 56 s" say the same.
std::string without_seconds(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    const bool is_seconds =
        end > i && text.compare(end, 2, " s") == 0 && (end + 2 == text.size() || std::isalpha(text[end + 2]) == 0);
    if (!is_seconds) result.append(text, i, std::max<std::size_t>(1, end - i));
    i += std::max<std::size_t>(1, end - i);
  }
  return result;
}

Json comparable(const Json& status) {
  Json plain = status;
  plain.erase("asOf");
  plain.erase("hostKeys");  // FarmKeys writes it
  if (plain.contains("message")) plain["message"] = without_seconds(std::string(kube::text_at(plain, {"message"})));
  if (plain.contains("history")) {
    for (const char* const moving : {"at", "usage"}) plain["history"].erase(moving);
  }
  return plain;
}

}  // namespace

std::string refusal_reason(std::string_view why) {
  return why.find("exceeded quota: ") != std::string_view::npos ? "QuotaExceeded" : "NoPodsAreMade";
}

FarmStatus counted_status(const farm::State& state, const farm::Decision& decision, std::int32_t farm,
                          const Asked& asked) {
  const auto f = static_cast<std::size_t>(farm);
  const farm::Outlook& outlook = decision.outlooks[f];
  const std::int32_t wanted = asked.wanted.value_or(outlook.demand);
  const std::int32_t own = std::min(outlook.guarantee_ceiling < 0 ? asked.guaranteed : outlook.allowed, wanted);
  const bool is_managed = state.farms[f].guaranteed >= asked.guaranteed;  // else nothing is guaranteed
  FarmStatus status{.running = outlook.held,
                    .pending = std::max(0, wanted - outlook.held),
                    .over_guarantee = std::max(0, outlook.held - (is_managed ? outlook.guaranteed : own)),
                    .history = state.farms[f].history};
  std::vector<bool> goes(state.pods.size());
  for (const farm::Reclaim& reclaim : decision.reclaims) goes[static_cast<std::size_t>(reclaim.pod)] = true;
  for (const farm::Removal& removal : decision.removals) goes[static_cast<std::size_t>(removal.pod)] = true;
  for (std::size_t i = 0; i < state.pods.size(); ++i) {
    const farm::Pod& pod = state.pods[i];
    if (pod.farm != farm || pod.is_driver) continue;
    const bool is_leaving = goes[i] || pod.is_reclaimed || pod.phase == farm::Phase::kEnding;
    status.terminating += is_leaving && pod.node >= 0;
    status.executors += !is_leaving;
    status.ready += !is_leaving && pod.phase == farm::Phase::kReady;
  }
  status.conditions.push_back(guarantee_condition(outlook, own, asked.blocked_because));
  status.conditions.push_back(ready_condition(outlook, status.ready, wanted, asked.blocked_because));
  return status;
}

std::string stuck_pods(const ClusterView& view, const ClusterState& cluster, const farm::Policy& policy,
                       std::int32_t farm) {
  std::vector<std::string> parts;
  std::size_t n_stuck = 0;
  for (std::size_t i = 0; i < cluster.state.pods.size(); ++i) {
    const farm::Pod& pod = cluster.state.pods[i];
    const bool is_stuck = pod.farm == farm && pod.phase == farm::Phase::kEnding && pod.node >= 0 &&
                          cluster.state.now > pod.deadline + policy.stuck_seconds;
    if (!is_stuck || ++n_stuck > kNamedPods) continue;
    const auto& key = view.pods[static_cast<std::size_t>(cluster.pods[i])].first;
    parts.push_back(
        fmt::format("{} on node {}", key.name, cluster.state.nodes[static_cast<std::size_t>(pod.node)].name));
  }
  if (n_stuck == 0) return "";
  if (n_stuck > kNamedPods) parts.push_back(fmt::format("{} others", n_stuck - kNamedPods));
  return fmt::format("{} does not end though its time to drain is over: {}; its node, or a finalizer, holds it",
                     n_stuck == 1 ? "a pod" : fmt::format("each of {} pods", n_stuck), fmt::join(parts, ", "));
}

Json json_of(const FarmStatus& status, const Json& before, double now) {
  const farm::History& history = status.history;
  return {{"observedGeneration", status.generation},
          {"asOf", time_text(now)},
          {"executors", status.executors},
          {"running", status.running},
          {"ready", status.ready},
          {"pending", status.pending},
          {"terminating", status.terminating},
          {"overGuarantee", status.over_guarantee},
          {"selector", status.selector},
          {"message", status.message},
          {"conditions", conditions_json(status.conditions, status.generation, before, now)},
          {"history",
           {{"at", time_text(now)},
            {"usage", history.usage},
            {"settledUsage", history.settled_usage},
            {"epoch", history.epoch},
            {"roomsOwed", history.rooms_owed},
            {"sharesOwed", history.shares_owed},
            {"lastFreed", history.last_freed},
            {"shortSince", history.short_since},
            {"hasStarted", history.has_started}}}};
}

Json json_of(const ManagerStatus& status, const Json& before, double now) {
  return {{"observedGeneration", status.generation},
          {"farms", status.farms},
          {"executors", status.executors},
          {"guaranteedLoad", fmt::format("{:.2f}", status.guaranteed_load)},
          {"message", status.message},
          {"conditions", conditions_json(status.conditions, status.generation, before, now)}};
}

bool has_changed(const Json& status, const Json& before) { return comparable(status) != comparable(before); }

std::optional<KeptHistory> history_of(const Json& status) {
  const Json& kept = object_at(status, {"history"});
  const double at = time_at(kept, {"at"});
  if (at <= 0) return std::nullopt;
  const auto amount = [&](const char* name) { return std::max(0.0, number_at(kept, name, 0)); };
  const auto count = [&](const char* name) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(integer_at(kept, name, 0), 0, 100'000));
  };
  return KeptHistory{{.usage = amount("usage"),
                      .settled_usage = amount("settledUsage"),
                      .epoch = amount("epoch"),
                      .shares_owed = count("sharesOwed"),
                      .rooms_owed = count("roomsOwed"),
                      .last_freed = amount("lastFreed"),
                      .short_since = amount("shortSince"),
                      .has_started = flag_at(kept, "hasStarted")},
                     at};
}

}  // namespace podere::controller
