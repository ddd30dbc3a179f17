// What decide() holds over every history: each property is tried on random histories, which RapidCheck shortens where
// one fails. RC_PARAMS="max_success=1000" tries more, "seed=1" others.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "podere/farm/explain.h"
#include "podere/farm/test_history.h"

namespace rc {

template <>
struct Arbitrary<podere::farm::Happening> {
  static Gen<podere::farm::Happening> arbitrary() {
    using podere::farm::Happening;
    return gen::build<Happening>(gen::set(&Happening::what), gen::set(&Happening::a), gen::set(&Happening::b));
  }
};

}  // namespace rc

namespace podere::farm {

void showValue(const Happening& happening, std::ostream& stream) {
  stream << "{" << int{happening.what} << ", " << happening.a << ", " << happening.b << "}";
}

namespace {

using Happenings = std::vector<Happening>;

bool is_held_back(const Outlook& outlook) { return outlook.guarantee.for_gang > 0; }

bool leaves(const Pod& pod) { return pod.phase == Phase::kEnding || pod.is_reclaimed; }

/// A second opinion on a state, by counting.
struct Count {
  std::vector<int> held, waiting, demand, due, over, usable;
  int free = 0;    // rooms on schedulable nodes, for executors that are all alike
  int coming = 0;  // rooms of pods that leave
  int needed = 0;  // executors that have to be reclaimed

  Count(const State& state, const Decision& decision)
      : held(state.farms.size()), waiting(held), demand(held), due(held), over(held), usable(held) {
    for (const Node& node : state.nodes)
      free += node.is_schedulable ? static_cast<int>(node.allocatable.amounts[0] / 1000) : 0;
    for (const Pod& pod : state.pods) {
      const auto f = static_cast<std::size_t>(pod.farm);
      const bool is_there = pod.node >= 0 && state.nodes[static_cast<std::size_t>(pod.node)].is_schedulable;
      free -= is_there;
      coming += is_there && leaves(pod) && state.now <= pod.deadline + 300;
      if (pod.is_driver || leaves(pod)) continue;
      ++(pod.node >= 0 ? held : waiting)[f];
      const bool has_run =
          pod.phase != Phase::kReady || pod.ready_since + state.farms[f].min_runtime_seconds <= state.now;
      usable[f] += is_there && has_run;
    }
    for (std::size_t f = 0; f < held.size(); ++f) {
      const Farm& farm = state.farms[f];
      demand[f] = std::min(farm.wanted, farm.maximum);
      if (!farm.has_template()) demand[f] = std::min(demand[f], held[f] + waiting[f]);
      if (!state.ceilings.empty()) demand[f] = std::min(demand[f], decision.outlooks[f].demand);
      due[f] = decision.outlooks[f].guaranteed;
      over[f] = std::max(0, held[f] - due[f]);
      needed += std::max(0, due[f] - held[f]);
    }
    needed = std::max(0, needed - free - coming);
  }
};

/// The state as it is once what the farms want fewer of is on its way out.
State without_surplus(State state, const Decision& decision) {
  for (const Removal& removal : decision.removals) {
    Pod& pod = state.pods[static_cast<std::size_t>(removal.pod)];
    pod.is_reclaimed = true;
    pod.deadline = removal.deadline;
  }
  return state;
}

State carried_out(State state, const Decision& decision) {
  state = without_surplus(std::move(state), decision);
  for (const Reclaim& reclaim : decision.reclaims) {
    Pod& pod = state.pods[static_cast<std::size_t>(reclaim.pod)];
    pod.is_reclaimed = true;
    pod.reclaimed_for = reclaim.for_farm;
    pod.for_guarantee = reclaim.for_guarantee;
    pod.deadline = reclaim.deadline;
  }
  int number = 0;
  for (const Creation& creation : decision.creations) {
    state.pods.push_back({.uid = "new-" + std::to_string(number++),
                          .farm = creation.farm,
                          .shape = state.farms[static_cast<std::size_t>(creation.farm)].template_shape,
                          .shows_missing = creation.shows_missing,
                          .created = state.now});
  }
  return state;
}

/// Each farm's quota of `n`, by largest remainder; ties to the farm further over, then by key.
std::vector<int> apportion(const State& state, const std::vector<int>& over, int n) {
  const int all = std::accumulate(over.begin(), over.end(), 0);
  std::vector<int> parts(over.size());
  if (all == 0) return parts;
  std::vector<std::size_t> order(over.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t f = 0; f < over.size(); ++f) parts[f] = n * over[f] / all;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const int ra = n * over[a] % all;
    const int rb = n * over[b] % all;
    if (ra != rb) return ra > rb;
    return over[a] != over[b] ? over[a] > over[b] : state.farms[a].key < state.farms[b].key;
  });
  int rest = n - std::accumulate(parts.begin(), parts.end(), 0);
  for (std::size_t i = 0; rest > 0; ++i, --rest) ++parts[order[i]];
  return parts;
}

int entitled(const State& state, const Decision& decision, std::size_t f) {
  return state.ceilings.empty() ? state.farms[f].guaranteed : decision.outlooks[f].allowed;
}

void no_farm_falls_below_its_guarantee(const State& state, const Decision& decision) {
  const Count count(without_surplus(state, decision), decision);
  std::vector<int> left = count.held;
  for (const Reclaim& reclaim : decision.reclaims) --left[static_cast<std::size_t>(reclaim.from)];
  for (std::size_t f = 0; f < left.size(); ++f) {
    RC_ASSERT(left[f] >= std::min(count.held[f], count.due[f]));
    // What is due is the lesser of the guarantee and what is wanted, unless all guarantees together are too many.
    if (decision.guaranteed_load <= 1 && decision.outlooks[f].guarantee.for_gang == 0)
      RC_ASSERT(count.due[f] == std::min(entitled(state, decision, f), count.demand[f]));
  }
}

void only_reclaimable_pods_are_reclaimed(const State& state, const Decision& decision) {
  std::set<std::int32_t> seen;
  for (const Reclaim& reclaim : decision.reclaims) {
    const Pod& pod = state.pods[static_cast<std::size_t>(reclaim.pod)];
    const Farm& farm = state.farms[static_cast<std::size_t>(reclaim.from)];
    RC_ASSERT(seen.insert(reclaim.pod).second);
    RC_ASSERT(pod.farm == reclaim.from && reclaim.from != reclaim.for_farm);
    RC_ASSERT(!pod.is_driver && !leaves(pod) && pod.node >= 0);
    RC_ASSERT(state.nodes[static_cast<std::size_t>(pod.node)].is_schedulable);
    RC_ASSERT(pod.phase != Phase::kReady || pod.ready_since + farm.min_runtime_seconds <= state.now);
    RC_ASSERT(reclaim.deadline == state.now + farm.drain_seconds);
  }
}

/// Of a farm's executors on schedulable nodes, no other would have been cheaper.
void the_cheapest_are_reclaimed(const State& state, const Decision& decision) {
  std::set<std::int32_t> reclaimed;
  for (const Reclaim& reclaim : decision.reclaims) reclaimed.insert(reclaim.pod);
  const auto cost = [&](const Pod& pod) {
    const bool is_ready = pod.phase == Phase::kReady;
    return std::tuple(is_ready, is_ready ? state.now - std::max(pod.ready_since, pod.checkpointed) : 0, -pod.created,
                      pod.uid);
  };
  for (const std::int32_t victim : reclaimed) {
    const Pod& pod = state.pods[static_cast<std::size_t>(victim)];
    for (std::size_t i = 0; i < state.pods.size(); ++i) {
      const Pod& other = state.pods[i];
      const bool could_be = other.farm == pod.farm && !leaves(other) && !other.is_driver && other.node >= 0 &&
                            state.nodes[static_cast<std::size_t>(other.node)].is_schedulable &&
                            !reclaimed.contains(static_cast<std::int32_t>(i)) &&
                            std::ranges::none_of(decision.removals, [&](const Removal& removal) {
                              return removal.pod == static_cast<std::int32_t>(i);
                            });
      if (could_be) RC_ASSERT(cost(pod) < cost(other));
    }
  }
}

void exactly_what_is_needed_is_reclaimed_in_proportion(const State& state, const Decision& decision) {
  const Count count(without_surplus(state, decision), decision);
  std::vector<int> reclaimable(count.over.size());
  std::ranges::transform(count.over, count.usable, reclaimable.begin(), [](int a, int b) { return std::min(a, b); });
  const int n_reclaimed = std::min(count.needed, std::accumulate(reclaimable.begin(), reclaimable.end(), 0));
  RC_ASSERT(static_cast<int>(decision.reclaims.size()) <= n_reclaimed);
  const auto is_put_off = [](const Outlook& outlook) { return outlook.guarantee.for_retry > 0; };
  if (std::ranges::any_of(decision.outlooks, is_put_off)) return;  // as a removal was lost, and its pod uses the room
  RC_ASSERT(static_cast<int>(decision.reclaims.size()) == n_reclaimed);
  if (reclaimable != count.over) return;  // some are on nodes that are not schedulable
  std::vector<int> reclaimed(count.over.size());
  for (const Reclaim& reclaim : decision.reclaims) ++reclaimed[static_cast<std::size_t>(reclaim.from)];
  RC_ASSERT(reclaimed == apportion(state, count.over, n_reclaimed));
}

/// While a farm of lower priority has executors to lose, none of higher priority loses any.
void lower_priorities_give_first(const State& state, const Decision& decision) {
  const Count count(without_surplus(state, decision), decision);
  std::vector<int> left(count.over.size());
  std::ranges::transform(count.over, count.usable, left.begin(), [](int a, int b) { return std::min(a, b); });
  for (const Reclaim& reclaim : decision.reclaims) --left[static_cast<std::size_t>(reclaim.from)];
  for (const Reclaim& reclaim : decision.reclaims) {
    const Farm& borrower = state.farms[static_cast<std::size_t>(reclaim.from)];
    for (std::size_t f = 0; f < left.size(); ++f)
      RC_ASSERT(left[f] <= 0 || state.farms[f].priority >= borrower.priority);
    RC_ASSERT(reclaim.for_guarantee ||
              state.farms[static_cast<std::size_t>(reclaim.for_farm)].priority > borrower.priority);
  }
}

/// Guarantees get what they get without priorities, and no more is reclaimed for shares than is missing of them.
void priorities_change_no_guarantee(const State& state, const Decision& decision) {
  const Count count(without_surplus(state, decision), decision);
  State without = state;
  for (Farm& farm : without.farms) farm.priority = 0;
  const Decision then = decide(without, {});
  const auto n_for_guarantees = std::ranges::count_if(decision.reclaims, &Reclaim::for_guarantee);
  RC_ASSERT(n_for_guarantees == std::ranges::count_if(then.reclaims, &Reclaim::for_guarantee));
  int missing = -std::max(0, count.free + count.coming);
  for (std::size_t f = 0; f < count.held.size(); ++f) {
    RC_ASSERT(decision.outlooks[f].guaranteed == then.outlooks[f].guaranteed);
    missing += std::max(0, count.demand[f] - count.held[f]);
  }
  const auto n_for_shares = static_cast<int>(decision.reclaims.size()) - static_cast<int>(n_for_guarantees);
  RC_ASSERT(n_for_shares == 0 || n_for_shares <= missing);
}

void no_lower_priority_keeps_what_a_higher_one_wants(const State& state, const Decision& decision) {
  const Count count(state, decision);
  for (std::size_t high = 0; high < count.held.size(); ++high) {
    if (count.held[high] >= count.demand[high]) continue;
    for (std::size_t low = 0; low < count.held.size(); ++low) {
      const bool is_lower = state.farms[low].priority < state.farms[high].priority;
      RC_ASSERT(!is_lower || std::min(count.over[low], count.usable[low]) <= 0);
    }
  }
}

void no_more_is_reclaimed_than_is_needed(const State& state, const Decision& decision) {
  const Count count(without_surplus(state, decision), decision);
  RC_ASSERT(static_cast<int>(decision.reclaims.size()) <= count.needed);
}

using Names = std::vector<std::string>;

/// A decision in names rather than indices, which depend on the order.
Names in_names(const State& state, const Decision& decision) {
  Names names;
  const auto farm = [&](std::int32_t f) { return state.farms[static_cast<std::size_t>(f)].key; };
  const auto pod = [&](std::int32_t p) { return state.pods[static_cast<std::size_t>(p)].uid; };
  for (const Reclaim& r : decision.reclaims) names.push_back("reclaim " + pod(r.pod) + " for " + farm(r.for_farm));
  for (const Removal& r : decision.removals) names.push_back("remove " + pod(r.pod));
  for (const Creation& c : decision.creations) {
    names.push_back("create " + farm(c.farm) + " on " +
                    (c.node < 0 ? "" : state.nodes[static_cast<std::size_t>(c.node)].name));
  }
  return names;
}

/// For the reader of a property that failed.
std::string described(const State& state, const Decision& decision) {
  std::string text = "at " + std::to_string(state.now) + "\n";
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const Farm& farm = state.farms[f];
    const Outlook& o = decision.outlooks[f];
    text += farm.key + (farm.has_template() ? " (shape " + std::to_string(farm.template_shape) + ")" : " (adopted)") +
            ": guaranteed " + std::to_string(farm.guaranteed) + ", due " + std::to_string(o.guaranteed) + ", share " +
            std::to_string(o.share) + ", owed " + std::to_string(farm.history.rooms_owed) + ", " +
            sentences(state, decision)[f] + "\n";
  }
  for (std::size_t n = 0; n < state.nodes.size(); ++n) {
    const Node& node = state.nodes[n];
    text += node.name + (node.is_schedulable ? "" : " (cordoned)") + " of " +
            std::to_string(node.allocatable.amounts[0]) + "\n";
  }
  for (const Pod& pod : state.pods) {
    text += pod.uid + " of " + state.farms[static_cast<std::size_t>(pod.farm)].key + " on " + std::to_string(pod.node) +
            " shape " + std::to_string(pod.shape) + " phase " + std::to_string(static_cast<int>(pod.phase)) +
            (pod.is_driver ? " driver" : "") +
            (pod.is_reclaimed ? " drains until " + std::to_string(pod.deadline) : "") + "\n";
  }
  for (const std::string& name : in_names(state, decision)) text += "-> " + name + "\n";
  return text;
}

std::vector<int> shown_pods(const State& state) {
  std::vector<int> shown(state.farms.size());
  for (const Pod& pod : state.pods) {
    shown[static_cast<std::size_t>(pod.farm)] += pod.shows_missing && pod.node < 0 && !leaves(pod);
  }
  return shown;
}

/// Whatever is there for show, the same are reclaimed.
void nothing_is_reclaimed_for_what_is_shown(const State& state, const Decision& decision) {
  State without = state;
  std::erase_if(without.pods, [](const Pod& pod) { return pod.shows_missing && pod.phase == Phase::kWaiting; });
  const auto reclaims = [](const State& of, const Decision& decided) {
    Names names = in_names(of, decided);
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("reclaim"); });
    return names;
  };
  RC_ASSERT(reclaims(without, decide(without, {})) == reclaims(state, decision));
  const Count count(state, decision);
  const std::vector<int> shown = shown_pods(carried_out(state, decision));
  for (std::size_t f = 0; f < shown.size(); ++f) {  // those that are not cut use them first
    RC_ASSERT(shown[f] <= 3 + std::max(0, count.due[f] - count.held[f]));
  }
}

/// As much of what is cut of guarantees as is to be, and no more.
void what_is_cut_is_shown(const State& state, const Decision& decision) {
  const Count count(state, decision);
  const std::vector<int> shown = shown_pods(state);
  const bool is_awaited = std::ranges::any_of(decision.outlooks, [](const Outlook& outlook) {
    return outlook.guarantee.for_drain + outlook.guarantee.for_retry > 0;  // from a pod that does not end
  });
  for (std::size_t f = 0; f < shown.size(); ++f) {
    const Outlook& outlook = decision.outlooks[f];
    const int cut = std::max(0, outlook.entitled() - std::max(outlook.guaranteed, outlook.held));
    RC_ASSERT(shown[f] <= std::max(0, outlook.entitled() - outlook.held));  // those that are not cut use them first
    if (!is_awaited) RC_ASSERT(count.waiting[f] >= std::min(3, cut));
  }
}

void what_was_decided_is_not_decided_again(const State& state, const Decision& decision, const Policy& policy) {
  const State then = carried_out(state, decision);
  const Decision next = decide(then, policy);
  if (!next.reclaims.empty()) RC_LOG() << "and then " << described(then, next);
  const auto is_put_off = [](const Outlook& outlook) {
    return outlook.guarantee.for_retry + outlook.beyond.for_retry > 0;
  };
  if (std::ranges::any_of(decision.outlooks, is_put_off)) return;  // until it is served by room of others
  // Where shapes mix, executors that now wait may be packed in another way: more of them may then have room, and those
  // that wait for their shares less. Then a gang may fit that did not, or the other way round.
  const bool is_uniform = state.shapes.size() == 1;
  const auto are_held_back_alike = [](const Outlook& a, const Outlook& b) {
    return is_held_back(a) == is_held_back(b);
  };
  const bool gangs_stay = std::ranges::equal(decision.outlooks, next.outlooks, are_held_back_alike);
  if (!is_uniform && !gangs_stay) return;
  if (is_uniform) RC_ASSERT(next.creations.empty() && next.removals.empty());
  const bool have_shares = policy.mode != Mode::kProportional ||
                           std::ranges::any_of(state.farms, [](const Farm& farm) { return farm.priority != 0; });
  if (is_uniform || !have_shares) RC_ASSERT(next.reclaims.empty());
}

void no_farm_has_more_created_than_it_asks_for(const State& state, const Decision& decision) {
  const Count count(carried_out(state, decision), decision);
  for (std::size_t f = 0; f < count.held.size(); ++f) {
    if (state.farms[f].has_template())
      RC_ASSERT(count.held[f] + count.waiting[f] <= std::min(state.farms[f].wanted, state.farms[f].maximum));
  }
}

/// While guaranteed executors wait, those in borrowed room wait only where there is room for both.
void borrowers_leave_room_for_guarantees(const State& state, const Decision& decision) {
  const Count before(without_surplus(state, decision), decision);
  const Count after(carried_out(state, decision), decision);
  int borrowed = 0;
  int guaranteed = 0;
  for (std::size_t f = 0; f < after.held.size(); ++f) {
    const int below = std::clamp(before.due[f] - before.held[f], 0, after.waiting[f]);
    guaranteed += below;
    borrowed += after.waiting[f] - below;
  }
  const bool are_nodes_away =
      std::ranges::any_of(decision.outlooks, [](const Outlook& outlook) { return outlook.guarantee.too_large > 0; });
  if (borrowed > 0 && guaranteed > 0 && !are_nodes_away)
    RC_ASSERT(borrowed + std::min(guaranteed, before.free) <= before.free);
  const auto n_created = std::ranges::count_if(decision.creations, &Creation::is_borrowed);
  RC_ASSERT(n_created == 0 || n_created + guaranteed <= before.free);
}

void the_order_of_farms_and_pods_does_not_matter(const State& state, const Decision& decision, const Policy& policy) {
  State turned = state;
  std::ranges::reverse(turned.farms);
  std::ranges::reverse(turned.pods);
  const auto last = static_cast<std::int32_t>(state.farms.size()) - 1;
  for (Ceiling& ceiling : turned.ceilings) {
    for (std::int32_t& farm : ceiling.farms) farm = last - farm;
  }
  for (Pod& pod : turned.pods) {
    pod.farm = last - pod.farm;
    if (pod.reclaimed_for >= 0) pod.reclaimed_for = last - pod.reclaimed_for;
  }
  RC_ASSERT(in_names(turned, decide(turned, policy)) == in_names(state, decision));
}

/// No executor that waits below a guarantee would have room if borrowers of one node were reclaimed: tries all sets.
void nothing_borrowed_would_help(const State& state, const Decision& decision) {
  const Count count(state, decision);
  for (std::size_t f = 0; f < count.held.size(); ++f) {
    const Farm& farm = state.farms[f];
    if (!farm.has_template() || count.held[f] >= count.due[f]) continue;
    if (decision.outlooks[f].guarantee.for_retry > 0) continue;  // pods of others use what was freed, again and again
    const Shape& shape = state.shapes[static_cast<std::size_t>(farm.template_shape)];
    for (std::size_t n = 0; n < state.nodes.size(); ++n) {
      if (!state.nodes[n].is_schedulable || !state.node_sets[static_cast<std::size_t>(shape.node_set)].contains(n))
        continue;
      Resources free = state.nodes[n].allocatable;
      std::vector<const Pod*> there;
      for (const Pod& pod : state.pods) {
        if (pod.node != static_cast<std::int32_t>(n)) continue;
        free -= state.shapes[static_cast<std::size_t>(pod.shape)].requests;
        if (!pod.is_driver) there.push_back(&pod);
      }
      for (unsigned set = 0; set < 1U << there.size(); ++set) {
        Resources room = free;
        std::vector<int> over = count.over;
        for (std::size_t i = 0; i < there.size(); ++i) {
          if ((set >> i & 1) == 0) continue;
          room += state.shapes[static_cast<std::size_t>(there[i]->shape)].requests;
          --over[static_cast<std::size_t>(there[i]->farm)];
        }
        RC_ASSERT(std::ranges::any_of(over, [](int o) { return o < 0; }) || !fits(shape.requests, room));
      }
    }
  }
}

/// Of what fits on no schedulable node, what is there counts.
void ceilings_are_kept(const State& state, const Decision& decision) {
  const Count count(state, decision);
  const auto fits_somewhere = [&](std::int32_t index) {
    if (index < 0) return true;
    const Shape& shape = state.shapes[static_cast<std::size_t>(index)];
    for (std::size_t n = 0; n < state.nodes.size(); ++n) {
      const bool is_allowed = state.node_sets[static_cast<std::size_t>(shape.node_set)].contains(n);
      if (state.nodes[n].is_schedulable && is_allowed && fits(shape.requests, state.nodes[n].allocatable)) return true;
    }
    return false;
  };
  for (const Ceiling& ceiling : state.ceilings) {
    int due = 0;
    int demand = 0;
    int asked = 0;
    for (const std::int32_t index : ceiling.farms) {
      const auto f = static_cast<std::size_t>(index);
      const Outlook& outlook = decision.outlooks[f];
      const Farm& farm = state.farms[f];
      const int most = fits_somewhere(outlook.shape) ? farm.wanted : count.held[f];
      due += std::min(outlook.entitled(), most);
      demand += std::min(outlook.demand, most);
      asked += std::min({farm.wanted, farm.maximum, most});
      RC_ASSERT((outlook.guarantee_ceiling >= 0) == (outlook.allowed < farm.guaranteed));
    }
    RC_ASSERT(due <= ceiling.guaranteed && demand <= ceiling.maximum);
    const bool are_adopted = std::ranges::any_of(state.farms, [](const Farm& farm) { return !farm.has_template(); });
    if (!are_adopted) RC_ASSERT(demand == std::min(asked, ceiling.maximum));  // nothing of it is wasted
  }
}

/// Whatever a farm asks for, others have what they ask for, or an equal share of the room. No cluster here has a tenth
/// of what it asks for; more would be as unreasonable, and takes decide() longer.
void an_unreasonable_guarantee_reclaims_nothing(const State& state, const Decision& decision, const Policy& policy) {
  const int n_farms = static_cast<int>(state.farms.size());
  int room = 0;
  for (const Node& node : state.nodes)
    room += node.is_schedulable ? static_cast<int>(node.allocatable.amounts[0] / 1000) : 0;
  for (std::size_t eve = 0; eve < state.farms.size(); ++eve) {
    State asked = state;
    asked.farms[eve].guaranteed = asked.farms[eve].maximum = asked.farms[eve].wanted = 1000;
    const Decision then = decide(asked, policy);
    for (std::size_t f = 0; f < state.farms.size(); ++f) {
      if (f != eve) RC_ASSERT(then.outlooks[f].guaranteed >= std::min(decision.outlooks[f].entitled(), room / n_farms));
    }
  }
}

/// Each gang that has not started has a way to room for all of it, or neither has nor reclaims anything.
void gangs_start_whole(const State& state, const Decision& decision) {
  const Count before(state, decision);
  const Count after(carried_out(state, decision), decision);
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    const Farm& farm = state.farms[f];
    const Outlook& outlook = decision.outlooks[f];
    const bool starts = !farm.history.has_started && before.held[f] < farm.gang_size();
    RC_ASSERT(outlook.gang == (starts ? farm.gang_size() : 0));
    RC_ASSERT(starts || !is_held_back(outlook));
    if (!starts) continue;
    if (!is_held_back(outlook)) {
      RC_ASSERT(outlook.guaranteed == farm.gang_size());
      RC_ASSERT(outlook.held + outlook.guarantee.prospective() == farm.gang_size());
      continue;
    }
    RC_ASSERT(outlook.held == 0 && after.held[f] == 0 && after.waiting[f] == 0);
    RC_ASSERT(outlook.gang_room < farm.gang_size());
    const auto is_for_it = [&](const Reclaim& reclaim) { return reclaim.for_farm == static_cast<std::int32_t>(f); };
    RC_ASSERT(std::ranges::none_of(decision.reclaims, is_for_it));
  }
}

/// Of those that are held back none would fit beside those that are not.
void no_gang_is_held_back_in_vain(const State& state, const Decision& decision, const Policy& policy) {
  for (std::size_t f = 0; f < state.farms.size(); ++f) {
    if (!is_held_back(decision.outlooks[f])) continue;
    State alone = state;
    for (std::size_t other = 0; other < state.farms.size(); ++other) {
      if (other != f && is_held_back(decision.outlooks[other])) alone.farms[other].wanted = 0;
    }
    RC_ASSERT(std::ranges::any_of(decide(alone, policy).outlooks, is_held_back));
  }
}

/// Where all gangs are whole without being gangs, that they are makes no difference.
void gangs_that_fit_change_nothing(const State& state, const Decision& decision, const Policy& policy) {
  State plain = state;
  for (Farm& farm : plain.farms) farm.is_gang = false;
  const Decision then = decide(plain, policy);
  if (std::ranges::none_of(decision.outlooks, is_held_back)) {
    RC_ASSERT(in_names(state, decision) == in_names(plain, then));
    return;
  }
  const auto lacks = [&](std::size_t f) {
    const Outlook& outlook = then.outlooks[f];
    return outlook.held + outlook.guarantee.prospective() < state.farms[f].gang_size();
  };
  bool is_one_lacking = false;
  for (std::size_t f = 0; f < state.farms.size(); ++f) is_one_lacking |= lacks(f);
  RC_ASSERT(is_one_lacking);
}

/// What holds in every decision, whatever the cluster and the mode.
void judge_all(const State& state, const Decision& decision, const Policy& policy) {
  no_farm_falls_below_its_guarantee(state, decision);
  only_reclaimable_pods_are_reclaimed(state, decision);
  no_farm_has_more_created_than_it_asks_for(state, decision);
  what_was_decided_is_not_decided_again(state, decision, policy);
  the_order_of_farms_and_pods_does_not_matter(state, decision, policy);
}

void live_through(const HistoryOptions& options, const Happenings& history,
                  const std::function<void(const State&, const Decision&)>& judge) {
  ModelCluster cluster(options);
  const auto both = [&](const State& state, const Decision& decision) {
    try {
      judge_all(state, decision, cluster.policy());
      judge(state, decision);
    } catch (...) {
      RC_LOG() << described(state, decision);
      throw;
    }
  };
  for (const Happening& happening : history) cluster.live(happening, both);
}

/// After a history nothing happens for long; returns the last decision, which asks for nothing any more.
void come_to_rest(const HistoryOptions& options, const Happenings& history,
                  const std::function<void(const State&, const Decision&)>& judge_last) {
  ModelCluster cluster(options);
  const auto ignore = [](const State&, const Decision&) {};
  for (const Happening& happening : history) cluster.live(happening, ignore);
  cluster.rest(ignore);
  bool is_quiet = true;
  State state;
  Decision last;
  cluster.live({0, 0, 0}, [&](const State& s, const Decision& decision) {
    is_quiet = decision.reclaims.empty() && decision.creations.empty() && decision.removals.empty();
    state = s;
    last = decision;
  });
  RC_LOG() << described(state, last);
  RC_ASSERT(is_quiet);
  judge_last(state, last);
}

RC_GTEST_PROP(Policy, ReclaimsExactlyWhatIsNeededInProportion, (const Happenings& history, std::uint16_t seed)) {
  live_through({.seed = seed}, history, [](const State& state, const Decision& decision) {
    exactly_what_is_needed_is_reclaimed_in_proportion(state, decision);
    the_cheapest_are_reclaimed(state, decision);
    borrowers_leave_room_for_guarantees(state, decision);
  });
}

RC_GTEST_PROP(Policy, KeepsCeilings, (const Happenings& history, std::uint16_t seed, bool is_fair, bool is_uniform)) {
  live_through({.mode = is_fair ? Mode::kFairShare : Mode::kProportional,
                .is_uniform = is_uniform,
                .has_adopted_farms = seed % 2 == 0,
                .has_ceilings = true,
                .seed = seed},
               history, ceilings_are_kept);
}

RC_GTEST_PROP(Policy, LeavesOthersTheirsWhateverAFarmAsksFor, (const Happenings& history, std::uint16_t seed)) {
  live_through({.seed = seed}, history, [](const State& state, const Decision& decision) {
    an_unreasonable_guarantee_reclaims_nothing(state, decision, {});
  });
}

RC_GTEST_PROP(Rest, FindsNothingBorrowedThatWouldHelpUnderCeilings, (const Happenings& history, std::uint16_t seed)) {
  come_to_rest({.has_ceilings = true, .seed = seed}, history, nothing_borrowed_would_help);
}

RC_GTEST_PROP(Policy, ReclaimsExactlyWhatMayBeReclaimedByNow, (const Happenings& history, std::uint16_t seed)) {
  live_through({.has_least_runtime = true, .seed = seed}, history, exactly_what_is_needed_is_reclaimed_in_proportion);
}

RC_GTEST_PROP(Policy, ReclaimsNoMoreThanIsNeededWhereOthersMakePods, (const Happenings& history, std::uint16_t seed)) {
  live_through({.has_adopted_farms = true, .seed = seed}, history, no_more_is_reclaimed_than_is_needed);
}

RC_GTEST_PROP(Policy, HoldsItsRulesWhereShapesMix, (const Happenings& history, std::uint16_t seed)) {
  live_through({.is_uniform = false, .has_adopted_farms = true, .has_least_runtime = true, .seed = seed}, history,
               [](const State&, const Decision&) {});
}

RC_GTEST_PROP(Policy, HoldsItsRulesInFairShare, (const Happenings& history, std::uint16_t seed, bool is_uniform)) {
  live_through({.mode = Mode::kFairShare, .is_uniform = is_uniform, .has_least_runtime = true, .seed = seed}, history,
               [](const State&, const Decision&) {});
}

RC_GTEST_PROP(Policy, HoldsItsRulesInHistoryAwareMode,
              (const Happenings& history, std::uint16_t seed, bool is_uniform)) {
  live_through({.mode = Mode::kHistoryAware, .is_uniform = is_uniform, .seed = seed}, history,
               [](const State&, const Decision&) {});
}

RC_GTEST_PROP(Rest, FindsEveryGuaranteeMetOrAllBorrowedRoomReclaimed, (const Happenings& history, std::uint16_t seed)) {
  come_to_rest({.has_least_runtime = true, .seed = seed}, history, nothing_borrowed_would_help);
}

RC_GTEST_PROP(Rest, FindsNothingBorrowedThatWouldHelpWhereShapesMix, (const Happenings& history, std::uint16_t seed)) {
  come_to_rest({.is_uniform = false, .seed = seed}, history, nothing_borrowed_would_help);
}

RC_GTEST_PROP(Rest, ComesWhereOthersMakePodsToo, (const Happenings& history, std::uint16_t seed)) {
  come_to_rest({.has_adopted_farms = true, .seed = seed}, history, nothing_borrowed_would_help);
}

RC_GTEST_PROP(Rest, ComesInFairShare, (const Happenings& history, std::uint16_t seed, bool is_uniform)) {
  come_to_rest({.mode = Mode::kFairShare, .is_uniform = is_uniform, .seed = seed}, history,
               nothing_borrowed_would_help);
}

RC_GTEST_PROP(Priorities, OrderWhoLoses, (const Happenings& history, std::uint16_t seed, bool has_least_runtime)) {
  live_through({.has_least_runtime = has_least_runtime, .has_priorities = true, .seed = seed}, history,
               lower_priorities_give_first);
}

RC_GTEST_PROP(Priorities, ChangeNoGuarantee, (const Happenings& history, std::uint16_t seed)) {
  live_through({.has_priorities = true, .seed = seed}, history, priorities_change_no_guarantee);
}

RC_GTEST_PROP(Priorities, HoldTheRulesWhereShapesMix, (const Happenings& history, std::uint16_t seed, bool is_fair)) {
  live_through({.mode = is_fair ? Mode::kFairShare : Mode::kProportional,
                .is_uniform = false,
                .has_adopted_farms = true,
                .has_least_runtime = true,
                .has_priorities = true,
                .seed = seed},
               history, [](const State&, const Decision&) {});
}

RC_GTEST_PROP(Rest, FindsNoBorrowedRoomThatAHigherPriorityWants,
              (const Happenings& history, std::uint16_t seed, bool is_fair, bool has_ceilings)) {
  come_to_rest({.mode = is_fair ? Mode::kFairShare : Mode::kProportional,
                .has_priorities = true,
                .has_ceilings = has_ceilings,
                .seed = seed},
               history, no_lower_priority_keeps_what_a_higher_one_wants);
}

RC_GTEST_PROP(Policy, ReclaimsNothingForWhatIsShown, (const Happenings& history, std::uint16_t seed)) {
  live_through({.pending_pods = 3, .seed = seed}, history, nothing_is_reclaimed_for_what_is_shown);
}

RC_GTEST_PROP(Rest, FindsWhatIsCutShown, (const Happenings& history, std::uint16_t seed, bool has_priorities)) {
  come_to_rest({.has_priorities = has_priorities, .pending_pods = 3, .seed = seed}, history, what_is_cut_is_shown);
}

RC_GTEST_PROP(Rest, ComesWherePrioritiesAndShapesMix, (const Happenings& history, std::uint16_t seed)) {
  come_to_rest({.is_uniform = false, .has_adopted_farms = true, .has_priorities = true, .seed = seed}, history,
               nothing_borrowed_would_help);
}

RC_GTEST_PROP(Gangs, StartWholeOrNotAtAll,
              (const std::vector<Happening>& history, std::uint16_t seed, bool is_fair, bool is_uniform,
               bool has_ceilings)) {
  const HistoryOptions options{.mode = is_fair ? Mode::kFairShare : Mode::kProportional,
                               .is_uniform = is_uniform,
                               .has_adopted_farms = seed % 2 == 0,
                               .has_least_runtime = seed % 3 == 0,
                               .pending_pods = seed % 4,
                               .has_ceilings = has_ceilings,
                               .has_gangs = true,
                               .seed = seed};
  live_through(options, history, [&](const State& state, const Decision& decision) {
    Policy policy;
    policy.mode = options.mode;
    policy.pending_pods = options.pending_pods;
    gangs_start_whole(state, decision);
    no_gang_is_held_back_in_vain(state, decision, policy);
    gangs_that_fit_change_nothing(state, decision, policy);
  });
}

RC_GTEST_PROP(Rest, FindsGangsWholeOrWithoutAny,
              (const std::vector<Happening>& history, std::uint16_t seed, bool is_uniform, bool has_ceilings)) {
  come_to_rest({.is_uniform = is_uniform, .has_ceilings = has_ceilings, .has_gangs = true, .seed = seed}, history,
               [](const State& state, const Decision& decision) {
                 nothing_borrowed_would_help(state, decision);
                 no_gang_is_held_back_in_vain(state, decision, {});
                 for (std::size_t f = 0; f < state.farms.size(); ++f) {
                   const std::int32_t held = decision.outlooks[f].held;
                   RC_ASSERT(state.farms[f].history.has_started || held == 0 || state.farms[f].gang_size() == 0);
                 }
               });
}

RC_GTEST_PROP(Cycles, DoNotArise,
              (const Happenings& history, std::uint16_t seed, bool is_fair, bool is_uniform, bool is_ranked)) {
  ModelCluster cluster({.mode = is_fair ? Mode::kFairShare : Mode::kProportional,
                        .is_uniform = is_uniform,
                        .has_priorities = is_ranked,
                        .seed = seed});
  const auto nothing_is_reclaimed_back = [&](const State&, const Decision&) {
    for (const auto& [from, to] : cluster.reclaimed_pairs()) RC_ASSERT(!cluster.reclaimed_pairs().contains({to, from}));
  };
  for (const Happening& happening : history) cluster.live(happening, nothing_is_reclaimed_back);
  cluster.rest(nothing_is_reclaimed_back);
}

}  // namespace
}  // namespace podere::farm
