#include "podere/farm/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/farm/history.h"
#include "podere/farm/original.h"
#include "podere/farm/simulation_counts.h"

namespace podere::farm {
namespace {

constexpr double kAfterLastEvent = 3600;
constexpr double kRequeueSeconds = 5;  // of the operator of 2019, which always looks again

enum class Kind : std::uint8_t { kTrace, kReady, kDrained, kGone, kSchedule, kLook, kDecide };

struct Moment {
  double at;
  std::uint64_t order;  // of moments at the same time
  Kind kind;
  std::int32_t subject;  // a pod's serial number, or the index of an event
  bool operator>(const Moment& other) const { return std::tie(at, order) > std::tie(other.at, other.order); }
};

class Simulation {
 public:
  Simulation(const Trace& trace, const SimulationOptions& options)
      : trace_(trace), options_(options), random_(options.seed, 0, 0), counts_(trace, state_) {
    state_.resources = trace.resources;
    state_.node_sets = {NodeSet::all()};
    std::set<std::string> names;
    for (const TraceEvent& event : trace.events) {
      if (const auto* node = std::get_if<NodeEvent>(&event.what)) names.insert(node->name);
    }
    for (const std::string& name : names) {
      node_of_[name] = static_cast<std::int32_t>(state_.nodes.size());
      state_.nodes.push_back({.name = name, .allocatable = {}, .used_by_others = {}, .is_schedulable = false});
    }
    free_.resize(names.size());
    state_.now = now_ = trace.events.front().at;
  }

  SimulationReport run() {
    for (std::size_t i = 0; i < trace_.events.size(); ++i) {
      add(trace_.events[i].at, Kind::kTrace, static_cast<std::int32_t>(i));
    }
    const double until = trace_.model.until > 0 ? trace_.model.until : trace_.events.back().at + kAfterLastEvent;
    while (!moments_.empty() && moments_.top().at <= until) {
      const Moment moment = moments_.top();
      moments_.pop();
      pass_to(moment.at);
      handle(moment);
    }
    pass_to(until);
    return counts_.report(now_);
  }

 private:
  void add(double at, Kind kind, std::int32_t subject = 0) { moments_.push({at, n_moments_++, kind, subject}); }

  void pass_to(double time) {
    counts_.pass(time - now_);
    now_ = time;
  }

  void handle(const Moment& moment) {
    // What was used so far is settled before it changes hands.
    if (!decision_is_due_) advance_usage(state_, now_, options_.policy);
    switch (moment.kind) {
      case Kind::kTrace:
        return happen(trace_.events[static_cast<std::size_t>(moment.subject)]);
      case Kind::kReady:
        return make_ready(moment.subject);
      case Kind::kDrained:
        return drained(moment.subject);
      case Kind::kGone:
        return gone(moment.subject);
      case Kind::kSchedule:
        return schedule();
      case Kind::kLook:
        return ask_for_decision();
      case Kind::kDecide:
        return decide_now();
    }
  }

  void ask_for_decision() {
    if (std::exchange(decision_is_due_, true)) return;
    add(now_ + trace_.model.decide_seconds, Kind::kDecide);
  }
  void ask_for_schedule() {
    if (std::exchange(schedule_is_due_, true)) return;
    add(now_ + trace_.model.schedule_seconds, Kind::kSchedule);
  }

  /// About as long as `seconds`.
  double around(double seconds) { return seconds * (0.5 + random_.uniform()); }

  // Events of the trace.

  void happen(const TraceEvent& event) {
    if (const auto* node = std::get_if<NodeEvent>(&event.what)) {
      change_node(*node);
    } else {
      change_farm(std::get<FarmEvent>(event.what));
    }
    ask_for_decision();
    ask_for_schedule();
  }

  void change_node(const NodeEvent& event) {
    const std::int32_t index = node_of_.at(event.name);
    Node& node = state_.nodes[static_cast<std::size_t>(index)];
    if (event.is_gone) {
      node.is_schedulable = false;
      for (std::size_t i = state_.pods.size(); i-- > 0;) {
        if (state_.pods[i].node == index) remove(i);
      }
      counts_.lose_node(index);
      for (std::size_t f = 0; f < state_.farms.size(); ++f) drive_adopted(static_cast<std::int32_t>(f));
    }
    Resources change = event.allocatable;
    change -= node.allocatable;
    free_[static_cast<std::size_t>(index)] += change;
    counts_.change_capacity(change);
    node.allocatable = event.allocatable;
    node.is_schedulable = !event.is_gone;
  }

  void change_farm(const FarmEvent& event) {
    const auto [place, is_new] = farm_of_.try_emplace(event.farm.key, static_cast<std::int32_t>(state_.farms.size()));
    const std::int32_t index = place->second;
    const auto f = static_cast<std::size_t>(index);
    if (is_new) {
      state_.farms.push_back(event.farm);
      shape_of_farm_.push_back(0);
      counts_.add_farm();
    }
    const History history = state_.farms[f].history;
    Farm& farm = state_.farms[f] = event.farm;
    farm.history = history;
    if (event.is_gone) farm.wanted = farm.guaranteed = 0;
    shape_of_farm_[f] = shape_of(event.executor, state_);
    if (event.has_template) farm.template_shape = shape_of_farm_[f];
    counts_.change_farm(index, now_, state_.shapes[static_cast<std::size_t>(shape_of_farm_[f])].requests);
    drive_adopted(index);
  }

  /// What makes a farm's pods in place of the operator keeps as many as are wanted; the youngest go first.
  void drive_adopted(std::int32_t index) {
    const Farm& farm = state_.farms[static_cast<std::size_t>(index)];
    if (farm.has_template()) return;
    std::vector<std::int32_t> own;
    for (std::size_t i = 0; i < state_.pods.size(); ++i) {
      if (state_.pods[i].farm == index && state_.pods[i].phase != Phase::kEnding && !state_.pods[i].is_reclaimed) {
        own.push_back(serials_[i]);
      }
    }
    const auto wanted = static_cast<std::size_t>(std::min(farm.wanted, farm.maximum));
    for (; own.size() > wanted; own.pop_back()) end(index_of(own.back()), 0);
    for (std::size_t n = own.size(); n < wanted; ++n) create(index);
  }

  // Pods.

  std::size_t index_of(std::int32_t serial) const {
    return static_cast<std::size_t>(places_[static_cast<std::size_t>(serial)]);
  }
  bool is_there(std::int32_t serial) const { return places_[static_cast<std::size_t>(serial)] >= 0; }

  void create(std::int32_t farm, bool has_priority = false) {
    const auto serial = static_cast<std::int32_t>(places_.size());
    places_.push_back(static_cast<std::int32_t>(state_.pods.size()));
    serials_.push_back(serial);
    state_.pods.push_back({.uid = fmt::format("p{:08}", serial),
                           .farm = farm,
                           .shape = shape_of_farm_[static_cast<std::size_t>(farm)],
                           .created = now_});
    counts_.add_pod();
    (has_priority ? waiting_first_ : waiting_).push_back(serial);
    ask_for_schedule();
  }

  const Resources& requests_of(const Pod& pod) const {
    return state_.shapes[static_cast<std::size_t>(pod.shape)].requests;
  }

  void remove(std::size_t index) {
    const Pod pod = state_.pods[index];
    if (pod.node >= 0) {
      free_[static_cast<std::size_t>(pod.node)] += requests_of(pod);
      if (pod.phase != Phase::kEnding && !pod.is_reclaimed) counts_.leave(pod, now_);
    }
    counts_.remove_pod(pod, index, now_);
    places_[static_cast<std::size_t>(serials_[index])] = -1;
    if (index + 1 < state_.pods.size()) {
      state_.pods[index] = std::move(state_.pods.back());
      serials_[index] = serials_.back();
      places_[static_cast<std::size_t>(serials_[index])] = static_cast<std::int32_t>(index);
    }
    state_.pods.pop_back();
    serials_.pop_back();
    note_gone(state_, pod);
  }

  void make_ready(std::int32_t serial) {
    if (!is_there(serial)) return;
    Pod& pod = state_.pods[index_of(serial)];
    if (pod.phase != Phase::kStarting) return;
    pod.phase = Phase::kReady;
    pod.ready_since = now_;
  }

  /// Asked to drain; most are done before their deadline, with all their work saved.
  void drain(std::size_t index, double deadline, std::int32_t reclaimed_for) {
    Pod& pod = state_.pods[index];
    counts_.leave(pod, now_);
    pod.is_reclaimed = true;
    pod.reclaimed_for = reclaimed_for;
    pod.deadline = deadline;
    const double done = now_ + (deadline - now_) * (0.1 + 1.1 * random_.uniform());
    if (done < deadline) {
      add(done, Kind::kDrained, serials_[index]);
    } else {
      add(deadline, Kind::kLook);  // at the decision that has it deleted
    }
  }

  void drained(std::int32_t serial) {
    if (!is_there(serial)) return;
    Pod& pod = state_.pods[index_of(serial)];
    pod.checkpointed = now_;
    if (pod.phase != Phase::kEnding) end(index_of(serial), 0);
  }

  /// Deleted. One that waits is gone at once.
  void end(std::size_t index, double grace_seconds) {
    Pod& pod = state_.pods[index];
    if (pod.node < 0) return remove(index);
    if (!pod.is_reclaimed && pod.phase != Phase::kEnding) counts_.leave(pod, now_);
    const double left = grace_seconds + around(trace_.model.end_seconds);
    if (!pod.is_reclaimed) pod.deadline = now_ + left;
    pod.phase = Phase::kEnding;
    add(now_ + left, Kind::kGone, serials_[index]);
  }

  void gone(std::int32_t serial) {
    if (!is_there(serial)) return;
    const std::int32_t farm = state_.pods[index_of(serial)].farm;
    remove(index_of(serial));
    drive_adopted(farm);
    ask_for_decision();
    ask_for_schedule();
  }

  // Scheduler and operator.

  /// Guaranteed executors that the operator created come first, as they have a priority; then the oldest pod.
  void schedule() {
    schedule_is_due_ = false;
    std::vector<std::uint8_t> has_no_room(state_.shapes.size());
    for (auto* waiting : {&waiting_first_, &waiting_}) {
      std::erase_if(*waiting, [&](std::int32_t serial) { return !is_there(serial) || bind(serial, has_no_room); });
    }
  }

  /// To the next node in turn that has room; returns whether there is one. What is of a shape without room is not
  /// tried.
  bool bind(std::int32_t serial, std::vector<std::uint8_t>& has_no_room) {
    Pod& pod = state_.pods[index_of(serial)];
    std::uint8_t& is_hopeless = has_no_room[static_cast<std::size_t>(pod.shape)];
    const std::int32_t node = is_hopeless != 0 ? -1 : node_for(pod);
    is_hopeless = node < 0;
    if (node < 0) return false;
    pod.node = node;
    pod.phase = Phase::kStarting;
    free_[static_cast<std::size_t>(node)] -= requests_of(pod);
    note_placed(state_, pod.farm, counts_.place(pod, index_of(serial), now_));
    add(now_ + around(trace_.model.start_seconds), Kind::kReady, serial);
    ask_for_decision();
    return true;
  }

  std::int32_t node_for(const Pod& pod) {
    const Shape& shape = state_.shapes[static_cast<std::size_t>(pod.shape)];
    const std::size_t n_nodes = state_.nodes.size();
    for (std::size_t i = 0; i < n_nodes; ++i) {
      const std::size_t node = (next_node_ + i) % n_nodes;
      if (!state_.nodes[node].is_schedulable ||
          !state_.node_sets[static_cast<std::size_t>(shape.node_set)].contains(node))
        continue;
      if (!fits(shape.requests, free_[node])) continue;
      next_node_ = (node + 1) % n_nodes;
      return static_cast<std::int32_t>(node);
    }
    return -1;
  }

  void decide_now() {
    decision_is_due_ = false;
    advance_usage(state_, now_, options_.policy);
    for (Pod& pod : state_.pods) {
      if (pod.phase != Phase::kReady) continue;
      const double every = std::max(1.0, trace_.model.checkpoint_seconds);
      pod.checkpointed = pod.ready_since + every * std::floor((now_ - pod.ready_since) / every);
    }
    const std::clock_t start = std::clock();
    const Decision decision = options_.is_original ? decide_as_original(state_) : decide(state_, options_.policy);
    counts_.decided(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    carry_out(decision);
    counts_.look_at_shares(decision.outlooks, now_);
    look_again(decision);
  }

  void carry_out(const Decision& decision) {
    // By serial number: indices change as pods go.
    const auto serials_of = [&](const auto& items, auto pod) {
      std::vector<std::int32_t> serials;
      for (const auto& item : items) serials.push_back(serials_[static_cast<std::size_t>(std::invoke(pod, item))]);
      return serials;
    };
    const auto expired = serials_of(decision.expired, [](std::int32_t pod) { return pod; });
    const auto removed = serials_of(decision.removals, &Removal::pod);
    const auto reclaimed = serials_of(decision.reclaims, &Reclaim::pod);
    for (const std::int32_t serial : expired) {
      counts_.lose_work(state_.pods[index_of(serial)], now_);
      end(index_of(serial), 0);
    }
    for (std::size_t i = 0; i < removed.size(); ++i) {
      const std::size_t index = index_of(removed[i]);
      const bool drains = state_.pods[index].node >= 0 && decision.removals[i].deadline > now_;
      drains ? drain(index, decision.removals[i].deadline, -1) : end(index, 0);
    }
    counts_.note_reclaims(decision.reclaims);
    for (std::size_t i = 0; i < reclaimed.size(); ++i) reclaim(index_of(reclaimed[i]), decision.reclaims[i]);
    for (const Creation& creation : decision.creations) {
      const bool awaits_gang = creation.awaits_drain && state_.farms[static_cast<std::size_t>(creation.farm)].is_gang;
      if (!awaits_gang) create(creation.farm, !options_.is_original && !creation.is_borrowed);
    }
  }

  void reclaim(std::size_t index, const Reclaim& reclaim) {
    Pod& pod = state_.pods[index];
    pod.for_guarantee = reclaim.for_guarantee;
    if (reclaim.deadline > now_) return drain(index, reclaim.deadline, reclaim.for_farm);
    counts_.leave(pod, now_);
    counts_.lose_work(pod, now_);
    pod.is_reclaimed = true;
    pod.reclaimed_for = reclaim.for_farm;
    pod.deadline = now_ + 2 * trace_.model.end_seconds;
    end(index, 0);
  }

  /// Decisions that wait for nothing but time.
  void look_again(const Decision& decision) {
    double next = std::numeric_limits<double>::infinity();
    if (options_.is_original && !waiting_.empty()) next = now_ + kRequeueSeconds;
    for (const Outlook& outlook : decision.outlooks) {
      if (outlook.retry_at > now_) next = std::min(next, outlook.retry_at);
    }
    if (next >= next_look_ && next_look_ > now_) return;
    next_look_ = next;
    if (std::isfinite(next)) add(next, Kind::kLook);
  }

  const Trace& trace_;
  const SimulationOptions options_;
  RandomSequence random_;
  State state_;
  SimulationCounts counts_;
  double now_ = 0;

  std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments_;
  std::uint64_t n_moments_ = 0;
  bool decision_is_due_ = false;
  bool schedule_is_due_ = false;
  double next_look_ = 0;

  std::map<std::string, std::int32_t> node_of_;
  std::map<std::string, std::int32_t> farm_of_;
  std::vector<std::int32_t> shape_of_farm_;
  std::vector<Resources> free_;        // of each node
  std::size_t next_node_ = 0;          // where the scheduler looks first
  std::vector<std::int32_t> serials_;  // of the pods of the state
  std::vector<std::int32_t> places_;   // of pods by serial number, in the state; -1: gone
  std::deque<std::int32_t> waiting_;   // by serial number
  std::deque<std::int32_t> waiting_first_;
};

}  // namespace

SimulationReport simulate(const Trace& trace, const SimulationOptions& options) {
  return Simulation(trace, options).run();
}

}  // namespace podere::farm
