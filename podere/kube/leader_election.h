// One leader of several processes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "podere/base/waitable_clock.h"
#include "podere/kube/client.h"

namespace podere::kube {

struct LeaderElectionOptions {
  ObjectKey lease;            ///< a Lease that all candidates name
  std::string identity;       ///< that no other process has, ever
  double lease_seconds = 15;  ///< others wait so long for a leader that says nothing
  double renew_seconds = 10;  ///< a leader that could not renew for so long is none any more; less than lease_seconds
  double retry_seconds = 2;   ///< between renewals, and between looks at the lease of another
  /// Called once. Must return soon: renewals wait for it.
  std::function<void()> on_start = [] {};
  /// Called once, when another has the lease or the deadline is over, even if a renewal still waits for its answer:
  /// whatever leads must end at once. Not called because this object goes. On another thread than on_start().
  std::function<void()> on_lost = [] {};
  /// A line for the log.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  WaitableClock* clock = &steady_clock();  ///< outlives the election; requests have time limits of their own
};

/// The name of this host and a random number.
std::string unique_identity();

/// Stands for election as long as it lives; who has led and lost does not stand again. Source: the algorithm of
/// client-go's leaderelection. Whether the lease of another has run out is judged by how long it has not been seen to
/// change, never by the times that it names: clocks of machines differ.
///
/// Two may think that they lead for a moment if a process is halted; is_leader() right before a write makes that as
/// short as the write, which should be one that an old leader cannot do twice.
class LeaderElection {
 public:
  /// Asks by a client of its own, so that no other request makes it wait. Throws InputError for times that do not fit.
  LeaderElection(const Access& access, LeaderElectionOptions options);
  /// Releases the lease if it has it, so that another may have it at once, waiting up to renew_seconds for that.
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  /// Right now, by this clock. Thread-safe.
  bool is_leader() const;
  /// Who has the lease, as last seen; may be empty. Thread-safe.
  std::string leader() const;

 private:
  bool is_over() const;  // the time of a leader since its last renewal; needs mutex_
  void campaign(const std::stop_token& stop);
  bool try_to_lead();
  bool try_to_write(const Json& lease);
  Json claim(Json lease) const;
  void note(const Json& lease);
  void guard(const std::stop_token& stop);
  void release();

  const LeaderElectionOptions options_;
  const Access access_;
  Client client_;
  // Of the campaign's thread.
  Json lease_;                      // as last seen; null: there is none
  double last_change_seconds_ = 0;  // when it was seen to change

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::string leader_;
  enum class State { kCandidate, kLeader, kTaken, kLost } state_ = State::kCandidate;
  double renewed_seconds_ = 0;  // when the last renewal that came through was asked for
  std::jthread guard_;
  std::jthread campaign_;
};

}  // namespace podere::kube
