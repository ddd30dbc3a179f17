#include "podere/kube/event_recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "podere/base/interrupt.h"
#include "podere/base/printable.h"
#include "podere/kube/back_off.h"
#include "podere/kube/waiting.h"

namespace podere::kube {
namespace {

constexpr std::size_t kMaxNoteBytes = 1000;
constexpr double kLookSeconds = 1;  // for writes whose turn has come
constexpr double kNoAnswerSeconds = 5;
/// Of cluster-wide objects.
constexpr const char* kDefaultNamespace = "default";

std::string namespace_of(const EventObject& object) {
  return object.key.in_namespace.empty() ? kDefaultNamespace : object.key.in_namespace;
}

}  // namespace

EventRecorder::EventRecorder(Client& client, EventRecorderOptions options)
    : client_(client), options_(std::move(options)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

EventRecorder::~EventRecorder() = default;

void EventRecorder::record(const EventObject& object, Type type, const std::string& reason,
                           const std::string& message) {
  const std::string whose = object.uid.empty() ? object.resource.kind + " " + object.key.text() : object.uid;
  const std::scoped_lock lock(mutex_);
  Series& series = series_[{whose, type, reason}];
  if (series.n_written + series.n_unwritten == 0) {
    series.object = object;
    series.first = now();
  }
  series.message = printable_line(message, kMaxNoteBytes);
  series.last = now();
  series.seen_seconds = clock_.seconds();
  ++series.n_unwritten;
  forget_old();
  has_news_ = true;
  changed_.notify_all();
}

/// With the lock.
void EventRecorder::forget_old() {
  if (series_.size() <= options_.max_series) return;
  const auto seen_before = [](const auto& a, const auto& b) { return a.second.seen_seconds < b.second.seen_seconds; };
  series_.erase(std::min_element(series_.begin(), series_.end(), seen_before));
  if (buckets_.size() > 2 * options_.max_series) buckets_.clear();
}

void EventRecorder::run(const std::stop_token& stop) {
  try {
    bool is_reached = true;
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return has_news_; });
      }
      is_reached = write_all();
      wait_for(is_reached ? kLookSeconds : kNoAnswerSeconds, stop);
    }
    if (is_reached) write_all();
  } catch (const Interrupted&) {
    // the client was stopped
  }
}

bool EventRecorder::write_all() {
  std::vector<std::pair<SeriesKey, Series>> due;
  {
    const std::scoped_lock lock(mutex_);
    has_news_ = false;
    const double now_seconds = clock_.seconds();
    std::erase_if(series_, [&](const auto& entry) {
      return entry.second.n_unwritten == 0 && entry.second.seen_seconds + options_.forget_seconds < now_seconds;
    });
    for (const auto& [key, series] : series_) {
      if (series.n_unwritten == 0) continue;
      auto& bucket =
          buckets_.try_emplace(key.object, TokenBucket(1 / options_.seconds_per_write, options_.burst)).first->second;
      if (bucket.take_at_once(now_seconds)) {
        due.emplace_back(key, series);
      } else {
        has_news_ = true;  // later
      }
    }
  }
  return std::ranges::all_of(due, [this](const auto& entry) { return write(entry.first, entry.second); });
}

bool EventRecorder::write(const SeriesKey& key, Series series) {
  const std::uint64_t n_new = series.n_unwritten;
  try {
    if (series.event.empty() || !write_more(series)) write_first(key, series);
  } catch (const ConnectionError& error) {
    options_.log(fmt::format("events: {}", error.what()));
    const std::scoped_lock lock(mutex_);
    has_news_ = true;  // still
    return false;
  } catch (const Error& error) {
    options_.log(fmt::format("events: {}", error.what()));
  }
  const std::scoped_lock lock(mutex_);
  if (const auto found = series_.find(key); found != series_.end()) {
    found->second.event = series.event;
    found->second.first = series.first;
    found->second.n_written = series.n_written + n_new;
    found->second.n_unwritten -= n_new;  // more may have come meanwhile
  }
  return true;
}

/// False if the server has forgotten the event.
bool EventRecorder::write_more(const Series& series) {
  try {
    client_.merge_patch(kEvents, {namespace_of(series.object), series.event},
                        {{"count", series.n_written + series.n_unwritten},
                         {"message", series.message},
                         {"lastTimestamp", to_text(series.last)}});
    return true;
  } catch (const ApiError& error) {
    if (!error.is_not_found()) throw;
    return false;
  }
}

void EventRecorder::write_first(const SeriesKey& key, Series& series) {
  if (!series.event.empty()) series.first = series.last;
  series.n_written = 0;
  series.event = fmt::format("{}.{:016x}", series.object.key.name, unshared_random().next());
  client_.create(kEvents, event_of(key, series));
}

Json EventRecorder::event_of(const SeriesKey& key, const Series& series) const {
  const EventObject& object = series.object;
  Json event = object_of(kEvents, {namespace_of(object), series.event});
  event["involvedObject"] = {
      {"apiVersion", object.resource.api_version()}, {"kind", object.resource.kind}, {"name", object.key.name}};
  if (!object.key.in_namespace.empty()) event["involvedObject"]["namespace"] = object.key.in_namespace;
  if (!object.uid.empty()) event["involvedObject"]["uid"] = object.uid;
  event["type"] = key.type == Type::kWarning ? "Warning" : "Normal";
  event["reason"] = key.reason;
  event["message"] = series.message;
  event["count"] = series.n_written + series.n_unwritten;
  event["firstTimestamp"] = to_text(series.first);
  event["lastTimestamp"] = to_text(series.last);
  event["source"] = {{"component", options_.component}};
  event["reportingComponent"] = options_.component;
  event["reportingInstance"] = options_.instance;
  return event;
}

}  // namespace podere::kube
