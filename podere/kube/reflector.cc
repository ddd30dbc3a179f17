#include "podere/kube/reflector.h"

#include <fmt/format.h>

#include <utility>

#include "podere/base/clock.h"
#include "podere/base/interrupt.h"
#include "podere/kube/waiting.h"

namespace podere::kube {
namespace {

// As those of Kubernetes' own controllers: servers are not asked by all at once.
constexpr double kShortestWatchSeconds = 300;
constexpr double kLongestWatchSeconds = 600;
constexpr double kTooShortSeconds = 1;  // a watch that ends sooner without an event is a failure
constexpr int kMaxRefusals = 2;         // then the version itself may be at fault: a server restored from a backup

}  // namespace

Reflector::Reflector(Client& client, ReflectorOptions options, Mirror& mirror)
    : client_(client),
      options_(std::move(options)),
      mirror_(mirror),
      list_version_(options_.begins_with_newest ? "" : "0"),
      back_off_(options_.first_delay_seconds, options_.longest_delay_seconds),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Reflector::~Reflector() = default;

bool Reflector::wait_until_synced(double timeout_seconds) const {
  std::unique_lock lock(mutex_);
  return synced_.wait_for(lock, std::chrono::duration<double>(timeout_seconds), [this] { return has_synced_.load(); });
}

void Reflector::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      if (must_list_) list(stop);
      watch(stop);
    } catch (const Interrupted&) {
      return;
    } catch (const ApiError& error) {
      if (error.is_gone() || (!must_list_ && n_refusals_++ >= kMaxRefusals)) {
        must_list_ = true;
        list_version_.clear();  // not what the server has at hand: that may be older than what was seen
      }
      note_failure(error.what(), stop);
    } catch (const SilenceError& error) {
      // Of a watch no failure: servers send no bookmark to who knows all there is.
      if (must_list_) note_failure(error.what(), stop);
    } catch (const std::exception& error) {
      note_failure(error.what(), stop);
    }
  }
}

void Reflector::list(const std::stop_token& stop) {
  ++n_lists_;
  version_ = client_.list_each(
      options_.resource, options_.query, {.resource_version = list_version_}, [this] { mirror_.begin_list(); },
      [this](const Json& object) { guarded(object, [&] { mirror_.put(object); }); }, stop);
  mirror_.end_list();
  must_list_ = false;
  n_refusals_ = 0;
  const std::scoped_lock lock(mutex_);
  has_synced_ = true;
  synced_.notify_all();
}

void Reflector::watch(const std::stop_token& stop) {
  ++n_watches_;
  const Stopwatch since_start;
  const std::string version_before = version_;
  const double timeout_seconds =
      kShortestWatchSeconds + random_.uniform() * (kLongestWatchSeconds - kShortestWatchSeconds);
  client_.watch(
      options_.resource, options_.query,
      {.resource_version = version_, .timeout_seconds = timeout_seconds, .silence_seconds = options_.silence_seconds},
      [this](const WatchEvent& event) { take(event); }, stop);
  if (version_ == version_before && since_start.seconds() < kTooShortSeconds) {
    throw ConnectionError(fmt::format("the watch of {} ended at once", options_.resource.plural));
  }
}

void Reflector::take(const WatchEvent& event) {
  using enum WatchEvent::Kind;
  if (event.kind == kDeleted) {
    guarded(event.object, [&] { mirror_.remove(event.object); });
  } else if (event.kind != kBookmark) {
    guarded(event.object, [&] { mirror_.put(event.object); });
  }
  if (const auto version = resource_version_of(event.object); !version.empty()) version_ = version;
  back_off_.reset();
  n_refusals_ = 0;
}

void Reflector::guarded(const Json& object, const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& error) {
    options_.log(fmt::format("{} {}: {}", options_.resource.kind, key_of(object).text(), error.what()));
  }
}

void Reflector::note_failure(const std::string& cause, const std::stop_token& stop) {
  ++n_failures_;
  const double delay_seconds = back_off_.next_seconds();
  options_.log(fmt::format("{}; {} again in {:.1f} s", cause, must_list_ ? "lists" : "watches", delay_seconds));
  wait_for(delay_seconds, stop);
}

}  // namespace podere::kube
