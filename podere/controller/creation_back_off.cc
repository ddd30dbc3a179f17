#include "podere/controller/creation_back_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "podere/base/error.h"
#include "podere/controller/farm_status.h"
#include "podere/controller/json.h"

namespace podere::controller {
namespace {

constexpr double kFirstRetrySeconds = 5;  // doubles up to
constexpr double kLongestRetrySeconds = 300;
constexpr double kCrashMemorySeconds = 600;  // executors that ended by themselves are counted so long
constexpr std::size_t kKeptRemains = 3;      // for users who look for the cause

/// "quota small: requested: pods=1, used: pods=2, limited: pods=2 (...)", or in the API server's words.
std::string why_refused(const std::string& answer) {
  constexpr std::string_view kExceeded = "exceeded quota: ";
  const auto begin = answer.find(kExceeded);
  const auto end = begin == std::string::npos ? begin : answer.find(", ", begin);
  if (end == std::string::npos) return "the API server makes no pods of it: " + answer;
  const auto name = begin + kExceeded.size();
  return fmt::format("exceeded quota: {}: {}", answer.substr(name, end - name), answer.substr(end + 2));
}

double retry_seconds(int n_failures) {
  return std::min(kLongestRetrySeconds, kFirstRetrySeconds * std::exp2(std::min(n_failures - 1, 30)));
}

/// How many more executors a farm in the view needs before any of them is of use: one, or all that a gang starts with.
std::int32_t n_needed(const Pass& pass, std::int32_t f, const FarmObject& farm) {
  if (!farm.is_gang) return 1;
  std::int32_t missing = std::min({farm.guaranteed, farm.wanted.value_or(0), farm.maximum});
  for (std::size_t i = 0; i < pass.view.pods.size(); ++i) {
    const PodFacts& pod = *pass.view.pods[i].second;
    missing -= pass.owners.farm_of_pod[i] == f && !pod.is_ending && !pod.is_finished;
  }
  return std::max(1, missing);
}

bool is_admitted(const QuotasByNamespace& quotas, const Pass& pass, std::int32_t f) {
  const auto& [key, farm] = pass.view.farms[static_cast<std::size_t>(f)];
  const auto found = quotas.find(key.in_namespace);
  if (found == quotas.end() || !farm->has_template()) return true;
  QuotaRoom room(found->second);
  const QuotaCharge charge = quota_charge_of(object_at(*farm->pod, {"spec"}));
  for (std::int32_t n = n_needed(pass, f, *farm); n > 0; --n) {
    if (!room.admit(charge).empty()) return false;
  }
  return true;
}

}  // namespace

void CreationBackOff::find(Pass& pass, const QuotasByNamespace& quotas) {
  find_crash_loops(pass);
  for (const std::int32_t f : pass.scope.farms) {
    const auto& [key, object] = pass.view.farms[static_cast<std::size_t>(f)];
    const FarmObject& farm = *object;
    if (const auto unshown = unshown_.find(farm.uid);
        unshown != unshown_.end() && unshown->second.retry_at > pass.now) {
      pass.scope.unshown.insert(farm.uid);
      pass.look_again_at(unshown->second.retry_at);
    }
    const auto refusal = refusals_.find(farm.uid);
    if (refusal == refusals_.end() || refusal->second.generation != farm.generation) continue;
    pass.refused_before.insert(farm.uid);
    note_quota(quotas, pass, f, refusal->second);
    if (refusal->second.retry_at <= pass.now) continue;
    pass.scope.blocked.insert(farm.uid);
    pass.scope.full_namespaces.insert(key.in_namespace);
    pass.blocked_because[farm.uid] = refusal->second.why;
    pass.look_again_at(refusal->second.retry_at);
  }
}

/// Retries at once when a quota admits them that a watch has seen full. Before a watch sees it full, it is older than
/// the refusal.
void CreationBackOff::note_quota(const QuotasByNamespace& quotas, const Pass& pass, std::int32_t f, Refusal& refusal) {
  if (refusal_reason(refusal.why) != "QuotaExceeded") return;
  if (!is_admitted(quotas, pass, f)) {
    refusal.was_full = true;
  } else if (refusal.was_full) {
    refusal.retry_at = std::min(refusal.retry_at, pass.now);
  }
}

void CreationBackOff::find_crash_loops(Pass& pass) {
  std::map<std::int32_t, std::vector<std::pair<double, std::size_t>>> finished;  // of farms in the view: when, which
  for (std::size_t i = 0; i < pass.view.pods.size(); ++i) {
    const PodFacts& pod = *pass.view.pods[i].second;
    const std::int32_t farm = pass.owners.farm_of_pod[i];
    const bool has_ended = pod.is_finished && !pod.is_ending && pod.is_made_by_a_farm() && farm >= 0;
    if (has_ended) finished[farm].emplace_back(pod.finished_at, i);
  }
  for (const std::int32_t f : pass.scope.farms) {
    const auto found = finished.find(f);
    if (found == finished.end()) continue;
    auto& pods = found->second;
    std::ranges::sort(pods, std::greater<>());
    remove_remains(pass, pods);
    const auto is_recent = [&](const auto& pod) { return pod.first > pass.now - kCrashMemorySeconds; };
    const auto n_recent = static_cast<int>(std::ranges::count_if(pods, is_recent));
    const double until = n_recent == 0 ? 0 : pods.front().first + retry_seconds(n_recent);
    if (until <= pass.now) continue;
    const FarmObject& farm = *pass.view.farms[static_cast<std::size_t>(f)].second;
    pass.scope.blocked.insert(farm.uid);
    pass.blocked_because[farm.uid] =
        fmt::format("executors ended by themselves, others are made at {}", time_text(until));
    pass.look_again_at(until);
  }
}

/// `finished`: pods in the view, the last first.
void CreationBackOff::remove_remains(const Pass& pass, const std::vector<std::pair<double, std::size_t>>& finished) {
  for (std::size_t i = kKeptRemains; i < finished.size(); ++i) {
    const auto& [key, pod] = pass.view.pods[finished[i].second];
    try {
      writer_.delete_pod(key, pod->uid, 1);
    } catch (const Error& error) {
      log_(error.what());  // the next pass sees it again
    }
  }
}

void CreationBackOff::note_refusals(Pass& pass) {
  for (std::size_t f = 0; f < pass.cluster.farms.size(); ++f) {
    note_unshown(pass, f);
    const FarmObject& farm = pass.farm(f);
    const auto refused = pass.result.refusals.find(static_cast<std::int32_t>(f));
    if (refused == pass.result.refusals.end()) {
      if (!pass.scope.blocked.contains(farm.uid)) refusals_.erase(farm.uid);
      continue;
    }
    Refusal& refusal = refusals_[farm.uid];
    if (refusal.generation != farm.generation) refusal = {.why = "", .generation = farm.generation};
    refusal.why = why_refused(refused->second);
    refusal.retry_at = pass.now + retry_seconds(++refusal.n_times);
    refusal.was_full = false;
    pass.scope.blocked.insert(farm.uid);
    pass.blocked_because[farm.uid] = refusal.why;
    pass.look_again_at(refusal.retry_at);
  }
}

void CreationBackOff::note_unshown(Pass& pass, std::size_t f) {
  const std::string& uid = pass.farm(f).uid;
  if (pass.result.unshown.contains(static_cast<std::int32_t>(f))) {
    Refusal& refusal = unshown_[uid];
    refusal.retry_at = pass.now + retry_seconds(++refusal.n_times);
    pass.look_again_at(refusal.retry_at);
  } else if (!pass.scope.unshown.contains(uid)) {
    unshown_.erase(uid);
  }
}

}  // namespace podere::controller
