#include "podere/kube/leader_election.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <utility>

#include "podere/base/interrupt.h"
#include "podere/kube/back_off.h"
#include "podere/kube/time.h"

namespace podere::kube {
namespace {

/// A candidate that waits looks a little more seldom, so that candidates do not move in step.
constexpr double kJitter = 0.2;

LeaderElectionOptions checked(LeaderElectionOptions options) {
  const bool fits = options.retry_seconds > 0 && options.retry_seconds * (1 + kJitter) < options.renew_seconds &&
                    options.renew_seconds < options.lease_seconds && options.lease_seconds >= 1;
  if (!fits) {
    throw_input_error("leader election: lease {} s, renew {} s, retry {} s; each must be longer than the next",
                      options.lease_seconds, options.renew_seconds, options.retry_seconds);
  }
  if (options.identity.empty()) throw InputError("leader election: no identity is given");
  return options;
}

std::string_view holder_of(const Json& lease) { return text_at(lease, {"spec", "holderIdentity"}); }

/// How long the one who has the lease wants others to wait.
double lease_seconds_of(const Json& lease, double otherwise) {
  const auto spec = lease.find("spec");
  if (spec == lease.end() || !spec->is_object()) return otherwise;
  const auto seconds = spec->find("leaseDurationSeconds");
  return seconds == spec->end() || !seconds->is_number() ? otherwise : seconds->get<double>();
}

std::int64_t transitions_of(const Json& lease) {
  const auto spec = lease.find("spec");
  if (spec == lease.end() || !spec->is_object()) return 0;
  const auto n = spec->find("leaseTransitions");
  return n == spec->end() || !n->is_number_integer() ? 0 : n->get<std::int64_t>();
}

}  // namespace

std::string unique_identity() {
  std::array<char, 256> host = {};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("{}_{:016x}", host.data(), unshared_random().next());
}

LeaderElection::LeaderElection(const Access& access, LeaderElectionOptions options)
    : options_(checked(std::move(options))),
      access_(access),
      client_(access_, {.timeout_seconds = options_.renew_seconds / 2, .max_retries = 0}),
      guard_([this](const std::stop_token& stop) { guard(stop); }),
      campaign_([this](const std::stop_token& stop) { campaign(stop); }) {}

LeaderElection::~LeaderElection() {
  campaign_.request_stop();
  client_.stop();
  campaign_.join();
  guard_.request_stop();
  guard_.join();
  if (state_ == State::kLeader) release();
}

bool LeaderElection::is_leader() const {
  const std::scoped_lock lock(mutex_);
  return state_ == State::kLeader && !is_over();
}

bool LeaderElection::is_over() const { return options_.clock->seconds() >= renewed_seconds_ + options_.renew_seconds; }

std::string LeaderElection::leader() const {
  const std::scoped_lock lock(mutex_);
  return leader_;
}

void LeaderElection::campaign(const std::stop_token& stop) {
  RandomSequence random = unshared_random();
  while (!stop.stop_requested()) {
    {  // A process that was halted must not renew: it may be awake before its guard is.
      const std::scoped_lock lock(mutex_);
      if (state_ == State::kLeader && is_over()) return;
    }
    const double asked_seconds = options_.clock->seconds();
    bool is_mine = false;
    bool is_known = true;
    try {
      is_mine = try_to_lead();
    } catch (const Interrupted&) {
      return;
    } catch (const std::exception& error) {
      options_.log(fmt::format("leader election: {}", error.what()));
      is_known = false;
    }
    bool begins = false;
    {
      const std::scoped_lock lock(mutex_);
      if (state_ == State::kLeader && (is_over() || (is_known && !is_mine))) state_ = State::kTaken;
      if (state_ == State::kTaken || state_ == State::kLost) return changed_.notify_all();
      if (is_mine) {
        begins = std::exchange(state_, State::kLeader) == State::kCandidate;
        renewed_seconds_ = asked_seconds;
        changed_.notify_all();
      }
    }
    if (begins) options_.on_start();
    options_.clock->sleep(options_.retry_seconds * (1 + (is_mine ? 0 : kJitter * random.uniform())), stop);
  }
}

bool LeaderElection::try_to_lead() {
  // Who leads need not ask whose the lease is: a write fails if that has changed.
  if (holder_of(lease_) == options_.identity && try_to_write(claim(lease_))) return true;
  const auto found = client_.find(kLeases, options_.lease);
  note(found ? *found : Json());
  const auto holder = holder_of(lease_);
  const bool is_anothers = !holder.empty() && holder != options_.identity;
  const double lease_seconds = lease_seconds_of(lease_, options_.lease_seconds);
  if (is_anothers && options_.clock->seconds() < last_change_seconds_ + lease_seconds) return false;
  return try_to_write(claim(lease_));
}

/// False if another was quicker.
bool LeaderElection::try_to_write(const Json& lease) {
  try {
    note(lease_.is_null() ? client_.create(kLeases, lease) : client_.replace(kLeases, lease));
    return true;
  } catch (const ApiError& error) {
    if (error.is_conflict() || error.already_exists() || error.is_not_found()) return false;
    throw;
  }
}

/// The lease as it is when this process has it.
Json LeaderElection::claim(Json lease) const {
  const std::string time = to_text_with_micros(now());
  const bool is_new = lease.is_null();
  if (is_new) lease = object_of(kLeases, options_.lease);
  if (holder_of(lease) != options_.identity) {
    const std::int64_t n_transitions = is_new ? 0 : transitions_of(lease) + 1;
    lease["spec"] = {{"acquireTime", time}, {"leaseTransitions", n_transitions}};
  }
  lease["spec"]["holderIdentity"] = options_.identity;
  lease["spec"]["leaseDurationSeconds"] = static_cast<int>(std::ceil(options_.lease_seconds));
  lease["spec"]["renewTime"] = time;
  return lease;
}

void LeaderElection::note(const Json& lease) {
  const auto spec = [](const Json& of) { return of.is_object() && of.contains("spec") ? of.at("spec") : Json(); };
  if (spec(lease) != spec(lease_)) last_change_seconds_ = options_.clock->seconds();
  lease_ = lease;
  const std::string leader(holder_of(lease));
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(leader_, leader) == leader) return;
  }
  options_.log(leader.empty() ? "leader election: there is no leader" : "leader election: the leader is " + leader);
}

void LeaderElection::guard(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  options_.clock->wait(lock, changed_, stop, WaitableClock::kForever, [this] { return state_ != State::kCandidate; });
  while (!stop.stop_requested()) {
    if (state_ == State::kTaken || is_over()) {
      state_ = State::kLost;
      lock.unlock();
      return options_.on_lost();
    }
    const double left_seconds = renewed_seconds_ + options_.renew_seconds - options_.clock->seconds();
    options_.clock->wait(lock, changed_, stop, left_seconds, [this] { return state_ == State::kTaken; });
  }
}

void LeaderElection::release() {
  try {
    Client client(access_, {.timeout_seconds = options_.renew_seconds / 2, .max_retries = 0});
    Json lease = client.get(kLeases, options_.lease);
    if (holder_of(lease) != options_.identity) return;
    lease["spec"]["holderIdentity"] = "";
    lease["spec"]["leaseDurationSeconds"] = 1;
    lease["spec"]["renewTime"] = to_text_with_micros(now());
    client.replace(kLeases, lease);
  } catch (const std::exception& error) {
    options_.log(fmt::format("leader election: the lease is not released: {}", error.what()));
  }
}

}  // namespace podere::kube
