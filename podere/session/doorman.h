// Who comes to a session with orders, and what they are told.
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

/// What poll() wakes up by, when another thread wishes.
class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const;
  void silence() const;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Lets clients in, hears their orders on a thread of its own, and tells them what becomes of those. A client that does
/// not read keeps nobody waiting. Thread-safe.
class Doorman {
 public:
  /// So many executors there are, and `least` would do.
  Doorman(const SessionPlace& place, int n_executors, int least);
  /// Waits up to 10 s for clients to take what they were told.
  ~Doorman();

  JobQueue& jobs() { return jobs_; }
  bool is_stopped() const { return is_stopped_; }
  /// How many executors are wanted by now.
  Wanted wanted() const;
  /// Whether training should write a checkpoint at once. True once for each notice.
  bool take_notice() { return notice_.exchange(false); }
  /// What there is to tell of the session, but for its jobs.
  void set_status(Json status);
  /// To whoever ordered the job, and to those who follow.
  void tell(const JobQueue::Ordered& order, Json event);

 private:
  struct Client {
    LineSocket socket;
    bool follows = false;
  };

  void watch();
  /// Until one of them has something to say or takes what it is told, or the bell rings; for a moment at most. Whether
  /// another one wants to come in.
  bool wait_for_clients(bool listens);
  bool let_in();
  /// Takes a client's orders, as long as it takes the answers. False if it has gone.
  bool serve(std::int64_t number, Client& client);
  void take(std::int64_t number, Client& client, const std::string& line);
  /// Nothing for a job, which is answered when it is done.
  std::optional<Json> answer_to(std::int64_t number, Client& client, const Json& id, const Json& order);
  Json scale(const Json& order);
  /// Tells those whose jobs will not begin.
  Json drop(const std::vector<Orderer>& dropped);
  void send(Client& client, const Json& event);
  /// With the lock.
  void post(Client& client, const Json& event);
  /// Clients may still have results to take.
  void say_farewell();

  Listener listener_;
  Bell bell_;
  const std::string name_;
  JobQueue jobs_;
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
