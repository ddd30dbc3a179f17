// What the API server has, kept up to date on this side.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "podere/kube/back_off.h"
#include "podere/kube/client.h"

namespace podere::kube {

/// What a reflector keeps up to date. Called on its thread.
class Mirror {
 public:
  Mirror() = default;
  virtual ~Mirror() = default;
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// What is put up to the next end_list() is all there is. May come again in place of end_list().
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  /// The object is new or has changed, or is only reported again.
  virtual void put(const Json& object) = 0;
  virtual void remove(const Json& object) = 0;
};

struct ReflectorOptions {
  Resource resource;
  Query query = {};
  bool begins_with_newest = false;   ///< the first list holds all that was written before, and costs etcd more
  double silence_seconds = 180;      ///< a watch that says nothing for so long is dead: bookmarks come every minute
  double first_delay_seconds = 0.8;  ///< after a failure; grows to
  double longest_delay_seconds = 30;
  /// A line for the log.
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

/// Lists objects, then watches them, on a thread of its own, until it goes or the client is stopped. A watch that ends
/// resumes where it was; when the server does not know that any more (410), all is listed anew. What fails is tried
/// again, ever later. What the mirror throws about an object is logged, and the object passed over.
class Reflector {
 public:
  /// `client` and `mirror` must live longer.
  Reflector(Client& client, ReflectorOptions options, Mirror& mirror);
  /// Stops at once, also in mid-request; only a call of the mirror is waited for.
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  /// Whether the mirror has got a whole list. Thread-safe, as all that follow.
  bool has_synced() const { return has_synced_; }
  /// Waits for that. False if it needs longer.
  bool wait_until_synced(double timeout_seconds) const;

  struct Counts {
    std::uint64_t n_lists = 0;
    std::uint64_t n_watches = 0;
    std::uint64_t n_failures = 0;  ///< of either
  };
  Counts counts() const { return {n_lists_, n_watches_, n_failures_}; }

 private:
  void run(const std::stop_token& stop);
  void list(const std::stop_token& stop);
  void watch(const std::stop_token& stop);
  void take(const WatchEvent& event);
  void guarded(const Json& object, const std::function<void()>& act);
  void note_failure(const std::string& cause, const std::stop_token& stop);

  Client& client_;
  const ReflectorOptions options_;
  Mirror& mirror_;
  // Of the thread.
  bool must_list_ = true;
  std::string list_version_;  // "0" for the first: that may be an old list, what came since then is watched
  std::string version_;       // all up to here has been seen
  int n_refusals_ = 0;        // of watches from version_
  BackOff back_off_;
  RandomSequence random_ = unshared_random();

  std::atomic<std::uint64_t> n_lists_ = 0;
  std::atomic<std::uint64_t> n_watches_ = 0;
  std::atomic<std::uint64_t> n_failures_ = 0;
  std::atomic<bool> has_synced_ = false;
  mutable std::mutex mutex_;
  mutable std::condition_variable synced_;
  std::jthread thread_;
};

}  // namespace podere::kube
