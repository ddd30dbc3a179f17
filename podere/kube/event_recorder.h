// Records for users what happened to their objects: kubectl describe shows it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "podere/base/clock.h"
#include "podere/kube/client.h"
#include "podere/kube/time.h"
#include "podere/kube/token_bucket.h"

namespace podere::kube {

/// What an event is about.
struct EventObject {
  Resource resource;
  ObjectKey key;
  std::string uid;
};

struct EventRecorderOptions {
  std::string component;          ///< which reports, such as "podere-operator"
  std::string instance = {};      ///< which one of several
  double burst = 10;              ///< writes about one object at once,
  double seconds_per_write = 60;  ///< and in the long run
  std::size_t max_series = 4096;  ///< those without news for longest are forgotten
  double forget_seconds = 3600;   ///< as the API server does
  /// A line for the log.
  std::function<void(const std::string&)> log = [](const std::string&) {};
};

/// Writes events (core/v1) on a thread of its own, so that no caller waits for them. What happens to an object for the
/// same reason again is one event whose count grows and whose message is the last one; too many writes about an object
/// wait, and count further. Events are of use to people only: what cannot be written is logged and forgotten.
class EventRecorder {
 public:
  enum class Type { kNormal, kWarning };

  /// `client` must live longer.
  EventRecorder(Client& client, EventRecorderOptions options);
  /// Writes what may be written now.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// `reason` is one word such as "Reclaimed". Thread-safe.
  void record(const EventObject& object, Type type, const std::string& reason, const std::string& message);

 private:
  struct SeriesKey {
    std::string object;  // its UID, or its kind and name
    Type type;
    std::string reason;
    bool operator<(const SeriesKey& other) const {
      return std::tie(object, type, reason) < std::tie(other.object, other.type, other.reason);
    }
  };
  struct Series {
    EventObject object;
    std::string message;
    std::string event;  // its name, if there is one
    Time first;
    Time last;
    std::uint64_t n_written = 0;
    std::uint64_t n_unwritten = 0;
    double seen_seconds = 0;
  };

  void run(const std::stop_token& stop);
  /// False if no server answers.
  bool write_all();
  bool write(const SeriesKey& key, Series series);
  bool write_more(const Series& series);
  void write_first(const SeriesKey& key, Series& series);
  Json event_of(const SeriesKey& key, const Series& series) const;
  void forget_old();

  Client& client_;
  const EventRecorderOptions options_;
  const Stopwatch clock_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::map<SeriesKey, Series> series_;
  std::map<std::string, TokenBucket> buckets_;  // by object
  bool has_news_ = false;
  std::jthread thread_;
};

}  // namespace podere::kube
