#include "podere/controller/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_set>

#include "podere/controller/concurrency.h"
#include "podere/controller/executor_pod.h"
#include "podere/controller/json.h"
#include "podere/farm/explain.h"

namespace podere::controller {
namespace {

using kube::ApiError;
using kube::EventRecorder;
using kube::ObjectKey;

constexpr double kSlackSeconds = 5;  // of clocks, and of times in whole seconds

/// The server will refuse it again until something changes. Conflicts pass: such as of a quota that many count in.
bool is_refusal(const ApiError& error) {
  return error.status() >= 400 && error.status() < 500 && !error.is_too_many_requests() && error.status() != 408 &&
         error.status() != 409 && !error.is_unauthorized();
}

}  // namespace

class Actions::Tally {
 public:
  void refused(std::int32_t farm, const std::string& why) {
    const std::scoped_lock lock(mutex_);
    result_.refusals.try_emplace(farm, why);
  }
  /// Whether the server would make a pod of the farm could not be asked.
  void unsure(std::int32_t farm, const std::string& what) {
    failed(what);
    const std::scoped_lock lock(mutex_);
    unsure_.insert(farm);
  }
  void unshown(std::int32_t farm) {
    const std::scoped_lock lock(mutex_);
    result_.unshown.insert(farm);
  }
  void failed(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    result_.failures.push_back(what);
  }
  void wrote() {
    const std::scoped_lock lock(mutex_);
    ++result_.n_written;
  }
  bool would_be_refused(const Creation& creation) {
    const std::scoped_lock lock(mutex_);
    return result_.refusals.contains(creation.farm) || (creation.is_shown && result_.unshown.contains(creation.farm));
  }
  bool may_reclaim_for(std::int32_t farm) {
    const std::scoped_lock lock(mutex_);
    return !result_.refusals.contains(farm) && !unsure_.contains(farm);
  }
  ActionResult& result() { return result_; }

 private:
  std::mutex mutex_;
  std::set<std::int32_t> unsure_;
  ActionResult result_;
};

ActionResult Actions::carry_out(const Decided& decided) {
  Tally tally;
  create(decided, tally);
  reclaim(decided, tally);
  const std::vector<Ending> ends = endings(decided);
  for_each_concurrently(ends.size(), options_.concurrency, [&](std::size_t i) { end(decided, ends[i], tally); });
  return std::move(tally.result());
}

void Actions::create(const Decided& decided, Tally& tally) {
  const auto is_known = [&](const ObjectKey& key) {
    const auto& pods = decided.view.pods;
    const auto found = std::lower_bound(pods.begin(), pods.end(), key,
                                        [](const auto& pod, const ObjectKey& name) { return pod.first < name; });
    return found != pods.end() && found->first == key;
  };
  std::set<std::int32_t> reclaiming;
  for (const farm::Reclaim& reclaim : decided.decision.reclaims) reclaiming.insert(reclaim.for_farm);
  std::map<std::int32_t, ExecutorNames> names;
  std::vector<Creation> creations;
  for (const farm::Creation& creation : decided.decision.creations) {
    const bool is_early = creation.awaits_drain && !decided.refused_before.contains(decided.farm(creation.farm).uid);
    if (is_early && reclaiming.erase(creation.farm) == 0) continue;  // one of each farm is enough to know
    const ObjectKey& farm = decided.farm_key(creation.farm);
    auto& of_farm = names.try_emplace(creation.farm, farm, is_known).first->second;
    ExecutorPodOptions options{.name = of_farm.next()};
    if (creation.node >= 0)
      options.preferred_node = decided.cluster.state.nodes[static_cast<std::size_t>(creation.node)].name;
    options.shows_missing = creation.shows_missing;
    options.most_drain_seconds = decided.most_drain_seconds(creation.farm);
    if (!creation.is_borrowed) options.priority_class = options_.guaranteed_priority_class;
    creations.push_back(
        {creation.farm, executor_pod(farm, decided.farm(creation.farm), options), is_early, creation.shows_missing});
  }
  std::ranges::stable_sort(creations, {}, &Creation::is_shown);
  const auto n_shown = static_cast<std::size_t>(std::ranges::count_if(creations, &Creation::is_shown));
  const std::size_t n_needed = creations.size() - n_shown;
  const auto make = [&](std::size_t i) {
    if (tally.would_be_refused(creations[i])) return;
    creations[i].is_check ? check_one(creations[i], tally) : create_one(creations[i], tally);
  };
  for_each_concurrently(n_needed, options_.concurrency, make);
  if (!tally.result().refusals.empty()) return;  // a quota may be used up, by which others have what they need
  for_each_concurrently(n_shown, options_.concurrency, [&](std::size_t i) { make(n_needed + i); });
}

void Actions::create_one(const Creation& creation, Tally& tally) {
  const ObjectKey key = kube::key_of(creation.pod);
  try {
    const Json created = writer_.create_pod(creation.pod);
    pending_.created(key, std::make_shared<const PodFacts>(pod_facts_of(created, needs_)), seconds_now());
    metrics_.executor_created();
    tally.wrote();
  } catch (const ApiError& error) {
    if (is_refusal(error) && creation.is_shown) return tally.unshown(creation.farm);
    if (is_refusal(error)) return tally.refused(creation.farm, error.what());
    pending_.perhaps_created(key, seconds_now());
    tally.failed(error.what());
  } catch (const Error& error) {
    pending_.perhaps_created(key, seconds_now());
    tally.failed(error.what());
  }
}

void Actions::check_one(const Creation& creation, Tally& tally) {
  try {
    writer_.check_pod(creation.pod);
  } catch (const ApiError& error) {
    if (error.already_exists()) return;
    if (is_refusal(error)) return tally.refused(creation.farm, error.what());
    tally.unsure(creation.farm, error.what());
  } catch (const Error& error) {
    tally.unsure(creation.farm, error.what());
  }
}

void Actions::reclaim(const Decided& decided, Tally& tally) {
  std::vector<farm::Reclaim> reclaims = decided.decision.reclaims;
  std::erase_if(reclaims, [&](const farm::Reclaim& reclaim) { return !tally.may_reclaim_for(reclaim.for_farm); });
  std::vector<std::uint8_t> is_reclaimed(reclaims.size());
  for_each_concurrently(reclaims.size(), options_.concurrency, [&](std::size_t i) {
    try {
      is_reclaimed[i] =
          reclaim_one(decided, reclaims[i], farm::reason(decided.cluster.state, decided.decision, reclaims[i]));
      if (is_reclaimed[i] == 0) return;
      tally.wrote();
      end(decided, {reclaims[i].pod, reclaims[i].deadline}, tally);
    } catch (const Error& error) {
      doubt(decided, reclaims[i].pod);
      tally.failed(error.what());
    }
  });
  std::vector<farm::Reclaim> done;
  for (std::size_t i = 0; i < reclaims.size(); ++i) {
    if (is_reclaimed[i] != 0) done.push_back(reclaims[i]);
  }
  report_reclaims(decided, done);
}

bool Actions::reclaim_one(const Decided& decided, const farm::Reclaim& reclaim, const std::string& reason) {
  const ObjectKey& key = decided.pod_key(reclaim.pod);
  const std::string& uid = decided.pod(reclaim.pod).uid;
  const std::string for_farm = decided.farm_key(reclaim.for_farm).text();
  try {
    writer_.annotate_pod(key, uid,
                         {{kReclaimedFor, for_farm},
                          {kReclaimedForGuarantee, reclaim.for_guarantee ? "true" : "false"},
                          {kReclaimDeadline, time_text(reclaim.deadline)},
                          {kReclaimReason, reason}});
    pending_.reclaimed(key, uid, {for_farm, reclaim.for_guarantee, reclaim.deadline}, seconds_now());
  } catch (const ApiError& error) {
    if (!error.is_not_found()) throw;
    return false;
  }
  events_.record({kube::kPods, key, uid}, EventRecorder::Type::kNormal, "Reclaimed",
                 fmt::format("drains until {}: {}", time_text(reclaim.deadline), reason));
  return true;
}

/// Once for each pair of farms, however many executors were reclaimed.
void Actions::report_reclaims(const Decided& decided, const std::vector<farm::Reclaim>& reclaims) {
  struct Pair {
    int n_reclaimed = 0;
    farm::Reclaim last = {};
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Pair> pairs;
  for (const farm::Reclaim& reclaim : reclaims) {
    Pair& pair = pairs[{reclaim.from, reclaim.for_farm}];
    ++pair.n_reclaimed;
    pair.last = reclaim;
    metrics_.executor_reclaimed(decided.farm_key(reclaim.from).text(), decided.farm_key(reclaim.for_farm).text(),
                                reclaim.for_guarantee, decided.cluster.state.now);
  }
  for (const auto& [farms, pair] : pairs) {
    const std::string reason = farm::reason(decided.cluster.state, decided.decision, pair.last);
    const std::string deadline = time_text(pair.last.deadline);
    events_.record({kFarms, decided.farm_key(farms.first), decided.farm(farms.first).uid}, EventRecorder::Type::kNormal,
                   "Reclaimed", fmt::format("{} executors drain until {}: {}", pair.n_reclaimed, deadline, reason));
    events_.record({kFarms, decided.farm_key(farms.second), decided.farm(farms.second).uid},
                   EventRecorder::Type::kNormal, "RoomIsFreed",
                   fmt::format("{} executors of {} drain until {} to make room", pair.n_reclaimed,
                               decided.farm_key(farms.first).text(), deadline));
  }
}

/// Executors that the farm has too many of, that a process reclaimed and did not delete, and that are to end too late.
std::vector<Actions::Ending> Actions::endings(const Decided& decided) const {
  std::vector<Ending> ends;
  std::unordered_set<std::int32_t> noted;
  for (const farm::Removal& removal : decided.decision.removals) {
    const farm::Farm& farm = decided.cluster.state.farms[static_cast<std::size_t>(decided.pod(removal.pod).farm)];
    const double grace = std::max(removal.deadline, decided.cluster.state.now + farm.drain_seconds);
    if (noted.insert(removal.pod).second) ends.push_back({removal.pod, grace, true});
  }
  for (std::size_t i = 0; i < decided.cluster.state.pods.size(); ++i) {
    const farm::Pod& pod = decided.cluster.state.pods[i];
    const auto index = static_cast<std::int32_t>(i);
    const bool is_left_over = pod.is_reclaimed && pod.phase != farm::Phase::kEnding;
    if (is_left_over && noted.insert(index).second) ends.push_back({index, pod.deadline});
    // Deleted by a user with a longer grace: deleted again, it has what is left of the most since then.
    const double last = decided.cluster.state.now + decided.most_drain_seconds(pod.farm);
    const bool ends_too_late =
        pod.phase == farm::Phase::kEnding && !pod.is_driver && pod.deadline > last + kSlackSeconds;
    if (ends_too_late) ends.push_back({index, last});
  }
  return ends;
}

void Actions::end(const Decided& decided, const Ending& ending, Tally& tally) {
  const ObjectKey& key = decided.pod_key(ending.pod);
  const std::string& uid = decided.pod(ending.pod).uid;
  const double now = seconds_now();
  try {
    writer_.delete_pod(key, uid, ending.deadline - now);
    pending_.deleted(key, uid, std::max(ending.deadline, now + 1), now);
    if (ending.is_removal) metrics_.executor_removed();
    tally.wrote();
  } catch (const ApiError& error) {
    if (error.is_not_found()) return;
    doubt(decided, ending.pod);
    tally.failed(error.what());
  } catch (const Error& error) {
    doubt(decided, ending.pod);
    tally.failed(error.what());
  }
}

/// A write that was not answered well may have been done, or the pod is another by now: the server is asked before
/// anything else is decided, as to delete a pod again would shorten its drain, and to reclaim another instead would be
/// one too many.
void Actions::doubt(const Decided& decided, std::int32_t pod) {
  pending_.perhaps_written(decided.pod_key(pod), decided.pod(pod).uid, seconds_now());
}

}  // namespace podere::controller
