#include "podere/farm/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace podere::farm {
namespace {

constexpr std::size_t kNamed = 3;  // farms in a sentence

std::string seconds_until(double time, double now) {
  return fmt::format("{:.0f} s", std::ceil(std::max(0.0, time - now)));
}

/// "a", "a and b", "a, b and c".
std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

std::string farms_in_words(const State& state, const std::vector<FarmExecutors>& reclaimed_from) {
  std::vector<std::string> parts;
  std::int32_t others = 0;
  for (std::size_t i = 0; i < reclaimed_from.size(); ++i) {
    if (i < kNamed) {
      parts.push_back(fmt::format("{} ({})", state.farms[static_cast<std::size_t>(reclaimed_from[i].farm)].key,
                                  reclaimed_from[i].executors));
    } else {
      others += reclaimed_from[i].executors;
    }
  }
  if (others > 0) parts.push_back(fmt::format("others ({})", others));
  return join(parts);
}

std::int32_t borrowed(const Outlook& outlook) { return outlook.held - outlook.guaranteed; }

/// Finds out who holds the room that a farm waits for.
class Holders {
 public:
  Holders(const State& state, const Decision& decision)
      : state_(state), decision_(decision), of_shapes_(state.shapes.size()) {}

  /// Who borrows most, of the other farms of which an executor is where one of this farm would fit; executors: how
  /// many. -1: none.
  FarmExecutors top_borrower(std::int32_t farm) {
    const std::int32_t shape = decision_.outlooks[static_cast<std::size_t>(farm)].shape;
    FarmExecutors top{-1, 0};
    for (const std::int32_t other : borrowers_of_use_to(shape)) {
      if (other == farm) continue;
      const FarmExecutors next{other, borrowed(decision_.outlooks[static_cast<std::size_t>(other)])};
      const bool is_first_by_key = top.executors == next.executors && key(next.farm) < key(top.farm);
      if (next.executors > top.executors || is_first_by_key) top = next;
    }
    return top;
  }

  /// Pods of none of the farms, on nodes that would be large enough; where the state counts pods.
  std::int64_t n_others(std::int32_t shape) const {
    const auto pods = std::ranges::find(state_.resources, "pods");
    if (pods == state_.resources.end()) return 0;
    std::int64_t count = 0;
    for (std::size_t n = 0; n < state_.nodes.size(); ++n) {
      if (!allows(shape, n) || !fits(requests(shape), state_.nodes[n].allocatable)) continue;
      count += state_.nodes[n].used_by_others.amounts[static_cast<std::size_t>(pods - state_.resources.begin())];
    }
    return count;
  }

  bool has_nodes(std::int32_t shape) const {
    for (std::size_t n = 0; n < state_.nodes.size(); ++n) {
      if (allows(shape, n)) return true;
    }
    return false;
  }

  bool fits_an_empty_node(std::int32_t shape) const {
    for (std::size_t n = 0; n < state_.nodes.size(); ++n) {
      if (allows(shape, n) && fits(requests(shape), state_.nodes[n].allocatable)) return true;
    }
    return false;
  }

 private:
  const std::string& key(std::int32_t farm) const { return state_.farms[static_cast<std::size_t>(farm)].key; }
  const Resources& requests(std::int32_t shape) const {
    return state_.shapes[static_cast<std::size_t>(shape)].requests;
  }
  bool allows(std::int32_t shape, std::size_t node) const {
    const auto set = static_cast<std::size_t>(state_.shapes[static_cast<std::size_t>(shape)].node_set);
    return state_.nodes[node].is_schedulable && state_.node_sets[set].contains(node);
  }

  /// Found once for all farms that wait with the same shape.
  const std::vector<std::int32_t>& borrowers_of_use_to(std::int32_t shape) {
    auto& known = of_shapes_[static_cast<std::size_t>(shape)];
    if (known) return *known;
    std::vector<bool> is_useful(state_.nodes.size());
    for (std::size_t n = 0; n < state_.nodes.size(); ++n) {
      Resources room = state_.nodes[n].allocatable;
      room -= state_.nodes[n].used_by_others;
      is_useful[n] = allows(shape, n) && fits(requests(shape), room);
    }
    std::vector<bool> is_of_use(state_.farms.size());
    for (const Pod& pod : state_.pods) {
      const bool stays = pod.node >= 0 && !pod.is_driver && !pod.is_reclaimed && pod.phase != Phase::kEnding;
      if (stays && is_useful[static_cast<std::size_t>(pod.node)]) is_of_use[static_cast<std::size_t>(pod.farm)] = true;
    }
    known.emplace();
    for (std::size_t f = 0; f < is_of_use.size(); ++f) {
      if (is_of_use[f] && borrowed(decision_.outlooks[f]) > 0) known->push_back(static_cast<std::int32_t>(f));
    }
    return *known;
  }

  const State& state_;
  const Decision& decision_;
  std::vector<std::optional<std::vector<std::int32_t>>> of_shapes_;
};

/// What the executors of a farm wait for, as sentences.
class Parts {
 public:
  Parts(const State& state, const Decision& decision) : state_(state), decision_(decision), holders_(state, decision) {}

  std::vector<std::string> of(std::int32_t farm) {
    parts_.clear();
    const Outlook& outlook = decision_.outlooks[static_cast<std::size_t>(farm)];
    add(farm, outlook.guarantee, "guaranteed ");
    add(farm, outlook.beyond, "");
    return std::move(parts_);
  }

 private:
  void part(std::int32_t count, const char* which, const std::string& what) {
    parts_.push_back(fmt::format("{} {}pending: {}", count, which, what));
  }

  void add(std::int32_t farm, const Waiting& waiting, const char* which) {
    const Outlook& outlook = decision_.outlooks[static_cast<std::size_t>(farm)];
    const bool is_beyond = &waiting == &outlook.beyond;
    const std::string retry = seconds_until(outlook.retry_at, state_.now);
    const bool waits_for_gang = !is_beyond && outlook.gang > 0 && waiting.for_start < waiting.all();
    if (waiting.for_start > 0) {
      part(waiting.for_start, which, waits_for_gang ? "room is free, starting with the rest of the gang" : kStarting);
    }
    if (waiting.for_drain > 0) {
      part(waiting.for_drain, which, is_beyond && outlook.guarantee.for_drain > 0 ? kTerminating : reclaims(outlook));
    }
    if (waiting.for_runtime > 0) {
      part(waiting.for_runtime, which,
           fmt::format("executors can be reclaimed in {}, after their minRuntimeSeconds", retry));
    }
    if (waiting.for_retry > 0) {
      part(waiting.for_retry, which, fmt::format("other pods use the reclaimed room, next reclaim in {}", retry));
    }
    if (waiting.for_room > 0) part(waiting.for_room, which, is_beyond ? no_room(farm) : kNoRoomForGuarantee);
    if (waiting.held_by_others > 0) part(waiting.held_by_others, which, held_by_others(outlook.shape));
    if (waiting.for_gang > 0) part(waiting.for_gang, which, is_beyond ? "after the gang start" : gang_start(outlook));
    if (waiting.too_large > 0) part(waiting.too_large, which, fits_nowhere(outlook.shape));
  }

  std::string reclaims(const Outlook& outlook) const {
    if (outlook.from.empty()) return kTerminating;
    return fmt::format("reclaiming from {}, done within {}", farms_in_words(state_, outlook.from),
                       seconds_until(outlook.drained_by, state_.now));
  }

  std::string no_room(std::int32_t farm) {
    const FarmExecutors top = holders_.top_borrower(farm);
    if (top.farm < 0) return "no room";
    return fmt::format("no room. {} borrows most ({})", state_.farms[static_cast<std::size_t>(top.farm)].key,
                       top.executors);
  }

  std::string held_by_others(std::int32_t shape) const {
    const std::int64_t count = holders_.n_others(shape);
    if (count == 0) return "no room, held by pods that belong to no farm, or by drivers";
    return fmt::format("no room, held by {} {} to no farm of this manager", count,
                       count == 1 ? "pod that belongs" : "pods that belong");
  }

  const char* fits_nowhere(std::int32_t shape) const {
    return holders_.has_nodes(shape)
               ? "each needs more than any node has, even an empty one"
               : "no schedulable node matches the template's node selector, affinity and tolerations";
  }

  std::string gang_start(const Outlook& outlook) const {
    if (!holders_.fits_an_empty_node(outlook.shape)) return fits_nowhere(outlook.shape);
    const std::string room = outlook.gang_room == 0 ? "none" : std::to_string(outlook.gang_room);
    return fmt::format("gang start needs room for all {}, there is room for {}", outlook.gang, room);
  }

  static constexpr const char* kStarting = "room is free, starting";
  static constexpr const char* kTerminating = "waiting for executors that are terminating";
  static constexpr const char* kNoRoomForGuarantee = "no node has room for one, even if all that is borrowed were free";

  const State& state_;
  const Decision& decision_;
  Holders holders_;
  std::vector<std::string> parts_;
};

/// "3 of 5 executors running".
std::string counts(const Farm& farm, const Outlook& outlook) {
  if (outlook.held <= outlook.demand) return fmt::format("{} of {} executors running", outlook.held, outlook.demand);
  return fmt::format("{} running, {} wanted{}", outlook.held, outlook.demand,
                     farm.has_template() ? "" : " (pods made by others)");
}

/// Where the guarantee does not count in full; else empty.
std::string scaling(const Outlook& outlook, double load) {
  const std::int32_t asked = outlook.entitled();
  if (outlook.guaranteed >= asked || outlook.guarantee.for_gang > 0) return "";
  return fmt::format("its guarantee of {} counts as {}, as all guarantees together are {:.0f} % of the cluster", asked,
                     outlook.guaranteed, 100 * load);
}

}  // namespace

std::vector<std::string> cuts(const State& state, const Decision& decision, std::int32_t index) {
  const auto f = static_cast<std::size_t>(index);
  const Farm& farm = state.farms[f];
  const Outlook& outlook = decision.outlooks[f];
  std::vector<std::string> parts;
  const auto add = [&](const char* what, std::int32_t number, std::int32_t counts, std::int32_t ceiling) {
    if (ceiling < 0) return;
    parts.push_back(fmt::format("{} {} counts as {}: the ceiling of {}", what, number, counts,
                                state.ceilings[static_cast<std::size_t>(ceiling)].name));
  };
  add("minExecutors", farm.guaranteed, outlook.allowed, outlook.guarantee_ceiling);
  add("executors", std::min(farm.wanted, farm.maximum), outlook.demand, outlook.demand_ceiling);
  std::string scaled = scaling(outlook, decision.guaranteed_load);
  if (!scaled.empty()) parts.push_back(std::move(scaled));
  return parts;
}

std::vector<std::string> sentences(const State& state, const Decision& decision) {
  Parts parts(state, decision);
  std::vector<std::string> sentences;
  sentences.reserve(state.farms.size());
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const Outlook& outlook = decision.outlooks[f];
    std::string sentence = counts(state.farms[f], outlook);
    for (const std::string& part : parts.of(static_cast<std::int32_t>(f))) sentence += ". " + part;
    for (const std::string& cut : cuts(state, decision, static_cast<std::int32_t>(f))) sentence += "; " + cut;
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

std::vector<std::string> waits(const State& state, const Decision& decision, std::int32_t farm) {
  std::vector<std::string> parts = Parts(state, decision).of(farm);
  std::ranges::move(cuts(state, decision, farm), std::back_inserter(parts));
  return parts;
}

std::string reason(const State& state, const Decision& decision, const Reclaim& reclaim) {
  const auto farm = [&](std::int32_t index) -> const Farm& { return state.farms[static_cast<std::size_t>(index)]; };
  const Outlook& from = decision.outlooks[static_cast<std::size_t>(reclaim.from)];
  const Outlook& to = decision.outlooks[static_cast<std::size_t>(reclaim.for_farm)];
  const Farm& winner = farm(reclaim.for_farm);
  const Farm& borrower = farm(reclaim.from);
  if (!reclaim.for_guarantee && winner.priority > borrower.priority) {
    return fmt::format("{} of priority {} runs {} of {} executors; {} of priority {} keeps {}, guaranteed {}",
                       winner.key, winner.priority, to.held, to.demand, borrower.key, borrower.priority, from.held,
                       from.guaranteed);
  }
  const std::int32_t due = reclaim.for_guarantee ? to.guaranteed : to.share;
  const std::int32_t floor = reclaim.for_guarantee ? from.guaranteed : from.share;
  const char* const kind = reclaim.for_guarantee ? "guaranteed executors" : "executors of its share";
  return fmt::format("{} runs {} of {} {}; {} keeps {}, {} {}", winner.key, to.held, due, kind, borrower.key, from.held,
                     reclaim.for_guarantee ? "guaranteed" : "its share is", floor);
}

}  // namespace podere::farm
