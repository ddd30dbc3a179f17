// Clients of a session: their requests, and the answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/local_socket.h"
#include "podere/session/job_queue.h"
#include "podere/session/session.h"
#include "podere/session/session_folder.h"

namespace podere::session {

/// Lets another thread wake up poll().
class WakeUp {
 public:
  WakeUp();
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  void signal() const;
  void reset() const;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Accepts clients, reads their requests on a thread of its own, and sends them the answers. A client that does not
/// read delays no other. Thread-safe.
class JobListener {
 public:
  /// `n_executors` are wanted, `least` are enough. `runs` are those of the jobs. Clients that connect wait for
  /// listen().
  JobListener(const SessionPlace& place, int n_executors, int least, const report::LiveRuns& runs);
  /// Once there is a status.
  void listen();
  /// Waits up to 10 s for clients to read what was sent.
  ~JobListener();

  JobQueue& jobs() { return jobs_; }
  bool is_stopped() const { return is_stopped_; }
  /// How many executors are wanted now.
  Wanted wanted() const;
  /// Whether training should write a checkpoint at once. True once for each notice.
  bool take_notice() { return notice_.exchange(false); }
  /// The status of the session, without its jobs.
  void set_status(Json status);
  /// The same with its jobs.
  Json status() const;
  /// To the client that submitted the job, and to those that follow.
  void report(const JobQueue::Ordered& order, Json event);

 private:
  struct Client {
    LineSocket socket;
    bool follows = false;
  };

  void watch();
  /// Until a client can be read from or written to, or a wake-up; 100 ms at most. Whether another client wants to
  /// connect.
  bool wait_for_clients(bool listens);
  bool accept();
  /// Reads a client's requests, and writes as much of the answers as it takes. False if it has gone.
  bool serve(std::int64_t number, Client& client);
  void take(std::int64_t number, Client& client, const std::string& line);
  /// Nothing for a job, which is answered when it is done.
  std::optional<Json> answer_to(std::int64_t number, Client& client, const Json& id, const Json& order);
  Json scale(const Json& order);
  /// Answers the clients whose jobs will not begin.
  Json drop(const std::vector<Orderer>& dropped);
  void send(Client& client, const Json& event);
  /// With the lock.
  void post(Client& client, const Json& event);
  /// Gives clients time to read their results.
  void flush_clients();

  Listener listener_;
  WakeUp wake_up_;
  const std::string name_;
  JobQueue jobs_;
  const report::LiveRuns& runs_;
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> has_ended_ = false;
  std::atomic<bool> notice_ = false;
  mutable std::mutex mutex_;                // guards what follows, but for the thread's own reading of clients_
  std::map<std::int64_t, Client> clients_;  // added and erased by the thread alone
  std::int64_t last_client_ = 0;
  Wanted wanted_;
  Json status_;
  std::thread thread_;
};

}  // namespace podere::session
