#include "podere/controller/reporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "podere/farm/explain.h"

namespace podere::controller {
namespace {

using kube::EventRecorder;

/// What is wrong with a farm, as far as it can be seen: one word, and a sentence. Empty: nothing.
struct Fault {
  std::string reason;
  std::string message;
};

Fault fault_of(const Pass& pass, std::size_t f) {
  const FarmObject& farm = pass.farm(f);
  if (!farm.fault.empty()) return {"TemplateInvalid", farm.fault};
  if (const auto blocked = pass.blocked_because.find(farm.uid); blocked != pass.blocked_because.end()) {
    return {refusal_reason(blocked->second), blocked->second};
  }
  const auto sharing = pass.owners.shared_with.find(pass.cluster.farms[f]);
  if (sharing == pass.owners.shared_with.end()) return {};
  std::vector<std::string> names;
  for (const std::int32_t other : sharing->second) {
    names.push_back(pass.view.farms[static_cast<std::size_t>(other)].first.text());
  }
  return {"SelectorsOverlap",
          fmt::format("its pods are selected by {} too, and belong to the first of the farms by name",
                      fmt::join(names, ", "))};
}

/// Of a farm of which fewer executors are made than it wants: what those wait for that are, and why not all are.
std::string blocked_sentence(const Pass& pass, std::size_t f, std::int32_t wanted, const std::string& why) {
  const farm::Outlook& outlook = pass.decision.outlooks[f];
  const auto index = static_cast<std::int32_t>(f);
  const std::vector<std::string> cuts = farm::cuts(pass.cluster.state, pass.decision, index);
  std::vector<std::string> parts = farm::waits(pass.cluster.state, pass.decision, index);
  parts.resize(parts.size() - cuts.size());  // which come last
  parts.push_back(fmt::format("{} pending: {}", wanted - std::max(outlook.demand, outlook.held), why));
  std::string text = fmt::format("{} of {} executors running. {}", outlook.held, wanted, fmt::join(parts, ". "));
  for (const std::string& cut : cuts) text += "; " + cut;
  return text;
}

Condition valid_condition(const Fault& fault, const std::string& warning, bool has_pods) {
  if (!fault.reason.empty()) return {"Valid", false, fault.reason, fault.message};
  if (!warning.empty()) return {"Valid", true, "NoRequests", warning};
  if (!has_pods) return {"Valid", true, "NoPods", "no pod is one of its executors by now"};
  return {"Valid", true, "Valid", "nothing is wrong with it"};
}

Condition managed_condition(const std::string& manager, const std::vector<std::string>& others) {
  if (manager.empty()) {
    return {"Managed", false, "NoManager", kUnmanaged};
  }
  if (others.empty()) return {"Managed", true, "Managed", "by farm manager " + manager};
  return {"Managed", true, "SeveralManagers",
          fmt::format("by farm manager {}, the first by name of those that select it, as {} does too", manager,
                      fmt::join(others, ", "))};
}

std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= 3) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, {} and {} others", names[0], names[1], names.size() - 2);
}

/// In executors, of farms that ask for what they are guaranteed, within ceilings.
Condition fit_condition(const farm::State& state, const farm::Decision& decision) {
  std::int64_t requested = 0;
  std::int64_t above = 0;
  std::int64_t room = 0;
  std::int64_t too_large = 0;
  std::int64_t of_gangs = 0;
  std::vector<std::string> of_farms;
  std::vector<std::string> gangs;
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const farm::Outlook& outlook = decision.outlooks[f];
    requested += outlook.entitled();
    above += std::min(state.farms[f].guaranteed, outlook.demand) - outlook.entitled();
    room += outlook.guaranteed - outlook.guarantee.too_large;
    too_large += outlook.guarantee.too_large;
    if (outlook.guarantee.too_large > 0) of_farms.push_back(state.farms[f].key);
    of_gangs += std::min(outlook.guarantee.for_gang, outlook.entitled());
    if (outlook.guarantee.for_gang > 0) gangs.push_back(state.farms[f].key);
  }
  std::string besides;
  if (too_large > 0) besides += fmt::format(", {} of which no node could hold ({})", too_large, some_of(of_farms));
  if (of_gangs > 0) besides += fmt::format(", {} of gangs that do not fit in whole ({})", of_gangs, some_of(gangs));
  if (above > 0) besides += fmt::format(", and {} above ceilings, which do not count", above);
  if (decision.guaranteed_load <= 1 && too_large + of_gangs > 0) {
    return {"GuaranteesFit", false, too_large > 0 ? "FitsNowhere" : "NoRoomForGang",
            fmt::format("guarantees requested {}{}", requested, besides)};
  }
  if (decision.guaranteed_load <= 1) {
    return {"GuaranteesFit", true, "Fit",
            above > 0 ? fmt::format("guarantees requested {}, for which there is room{}", requested, besides)
                      : "there is room for all guarantees that are asked for"};
  }
  return {"GuaranteesFit", false, "ExceedCluster",
          fmt::format("guarantees requested {}, room {}{}", requested, room, besides)};
}

Condition sole_condition(const Pass& pass) {
  std::vector<std::string> lost;
  std::vector<std::string> contested;
  for (std::size_t f = 0; f < pass.view.farms.size(); ++f) {
    const auto& others = pass.assignment.others[f];
    const bool is_own = pass.assignment.manager[f] == pass.key.name;
    if (is_own && !others.empty()) contested.push_back(pass.view.farms[f].first.text());
    const bool is_lost = std::ranges::find(others, pass.key.name) != others.end();
    if (is_lost) lost.push_back(pass.view.farms[f].first.text());
  }
  const std::string reason = "SeveralManagers";
  if (!lost.empty()) {
    return {"SoleManager", false, reason,
            fmt::format("it selects {} too, which a manager that is before it by name manages", some_of(lost))};
  }
  if (!contested.empty()) {
    return {
        "SoleManager", false, reason,
        fmt::format("other managers select {} too, which this one manages, as the first by name", some_of(contested))};
  }
  return {"SoleManager", true, "Sole", "no other manager selects its farms"};
}

}  // namespace

void Reporter::report(const Pass& pass) {
  forget_gone(pass.view);
  const std::vector<std::string> sentences = farm::sentences(pass.cluster.state, pass.decision);
  std::int64_t n_content = 0;
  for (std::size_t f = 0; f < sentences.size(); ++f) n_content += report_farm(pass, f, sentences[f]);
  report_manager(pass, n_content);
}

bool Reporter::report_farm(const Pass& pass, std::size_t f, const std::string& sentence) {
  const FarmObject& farm = pass.farm(f);
  const Fault fault = fault_of(pass, f);
  const std::string stuck = stuck_pods(pass.view, pass.cluster, pass.policy, static_cast<std::int32_t>(f));
  Asked asked{.guaranteed = farm.guaranteed};
  if (farm.has_template() && !farm.is_ending) asked.wanted = std::min(farm.wanted.value_or(0), farm.maximum);

  const std::int32_t demand = pass.decision.outlooks[f].demand;
  if (asked.wanted && pass.decision.outlooks[f].demand_ceiling >= 0) asked.wanted = demand;
  if (!fault.reason.empty()) asked.blocked_because = fault.reason;
  FarmStatus status = counted_status(pass.cluster.state, pass.decision, static_cast<std::int32_t>(f), asked);
  const Condition managed =
      managed_condition(pass.assignment.manager[pass.in_view(f)], pass.assignment.others[pass.in_view(f)]);
  status.generation = farm.generation;
  status.selector = farm.selector.text();
  const bool is_blocked = !fault.message.empty() && asked.wanted.value_or(demand) > demand;
  status.message = is_blocked ? blocked_sentence(pass, f, *asked.wanted, fault.message) : sentence;
  for (const std::string& part : {is_blocked ? std::string() : fault.message, farm.warning, stuck,
                                  managed.holds ? std::string() : managed.message}) {
    if (!part.empty()) status.message += "; " + part;
  }
  for (const std::string& remark : pass.cluster.limited.remarks[f]) status.message += "; " + remark;
  const bool has_pods = farm.has_template() || status.executors + status.terminating > 0;
  status.conditions.push_back(valid_condition(fault, farm.warning, has_pods));
  status.conditions.push_back(managed);

  note_trouble(pass, f, stuck.empty() ? fault.reason : "StuckTerminating", stuck.empty() ? fault.message : stuck);
  note_guarantee(pass, f, status.conditions.front());
  submit({kFarms, pass.farm_key(f), farm.uid}, *farm.status,
         [&](const Json& before) { return json_of(status, before, pass.now); });
  return status.conditions.front().holds;
}

void Reporter::note_trouble(const Pass& pass, std::size_t f, const std::string& reason, const std::string& message) {
  std::string& trouble = reported_[pass.farm(f).uid].trouble;
  if (!reason.empty() && trouble != reason) {
    events_.record({kFarms, pass.farm_key(f), pass.farm(f).uid}, EventRecorder::Type::kWarning, reason, message);
  }
  trouble = reason;
}

void Reporter::note_guarantee(const Pass& pass, std::size_t f, const Condition& condition) {
  Reported& reported = reported_[pass.farm(f).uid];
  if (!condition.holds) {
    if (reported.below_since <= 0) reported.below_since = pass.now;
    reported.had_to_wait |= condition.reason != "Starts";
    return;
  }
  if (reported.below_since <= 0) return;
  const double seconds = pass.now - std::exchange(reported.below_since, 0);
  metrics_.guarantee_met(seconds);
  if (!std::exchange(reported.had_to_wait, false)) return;
  events_.record({kFarms, pass.farm_key(f), pass.farm(f).uid}, EventRecorder::Type::kNormal, "GuaranteeMet",
                 fmt::format("{}, after {:.0f} s", condition.message, seconds));
}

void Reporter::report_manager(const Pass& pass, std::int64_t n_content) {
  ManagerStatus status{.farms = static_cast<std::int64_t>(pass.cluster.farms.size()),
                       .guaranteed_load = pass.decision.guaranteed_load};
  std::int64_t n_missing = 0;
  for (std::size_t f = 0; f < pass.decision.outlooks.size(); ++f) {
    const farm::Outlook& outlook = pass.decision.outlooks[f];
    status.executors += outlook.held;
    n_missing += outlook.guarantee.all();
  }
  metrics_.set_farms(pass.key.name, pass.cluster.farms.size(), status.executors, n_missing);
  if (pass.manager == nullptr) return;

  status.generation = pass.manager->generation;
  status.conditions = {fit_condition(pass.cluster.state, pass.decision), sole_condition(pass)};
  status.message =
      fmt::format("{} of {} farms have what they are guaranteed, as far as they want it", n_content, status.farms);
  for (const Condition& condition : status.conditions) {
    if (!condition.holds) status.message += "; " + condition.message;
  }
  if (!pass.cluster.ignored_resources.empty()) {
    status.message += fmt::format("; its farms ask for more resources than are counted, {} are not",
                                  fmt::join(pass.cluster.ignored_resources, ", "));
  }
  submit({kFarmManagers, pass.key, pass.manager->uid}, *pass.manager->status,
         [&](const Json& before) { return json_of(status, before, pass.now); });
}

void Reporter::submit(const StatusSubject& subject, const Json& on_server,
                      const std::function<Json(const Json& before)>& make) {
  Reported& reported = reported_[subject.uid];
  const Json& before = reported.status.is_null() ? on_server : reported.status;
  Json status = make(before);
  if (!has_changed(status, before)) return;
  reported.status = status;
  statuses_.submit(subject, std::move(status));
}

void Reporter::forget_gone(const ClusterView& view) {
  if (reported_.size() <= 2 * view.farms.size() + 64) return;
  std::set<std::string> there;
  for (const auto& [key, farm] : view.farms) there.insert(farm->uid);
  std::erase_if(reported_, [&](const auto& reported) { return !there.contains(reported.first); });
}

}  // namespace podere::controller
