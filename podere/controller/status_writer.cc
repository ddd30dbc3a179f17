#include "podere/controller/status_writer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/interrupt.h"
#include "podere/controller/concurrency.h"

namespace podere::controller {

StatusWriter::StatusWriter(Writer& writer, std::function<bool(const StatusSubject&)> is_there,
                           std::function<void(const std::string&)> log, StatusWriterOptions options)
    : writer_(writer),
      is_there_(std::move(is_there)),
      log_(std::move(log)),
      options_(options),
      turns_(options.per_second, options.burst),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

StatusWriter::~StatusWriter() = default;

void StatusWriter::submit(const StatusSubject& subject, Json status) {
  const std::scoped_lock lock(mutex_);
  Update& update = updates_[subject.uid];
  update.subject = subject;
  update.status = std::move(status);
  update.is_fresh = true;
  ++n_submitted_;
  changed_.notify_all();
}

void StatusWriter::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      const std::vector<Update> due = wait_for_due(stop);
      for_each_concurrently(due.size(), options_.concurrency, [&](std::size_t i) {
        if (!stop.stop_requested()) write(due[i]);
      });
    }
  } catch (const Interrupted&) {
    // this process may write no longer
  }
}

/// Those whose time has come, whose was first of all first, as many as may be written by now.
std::vector<StatusWriter::Update> StatusWriter::wait_for_due(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const double now = options_.clock->seconds();
    double next = std::numeric_limits<double>::infinity();
    std::vector<Update*> due;
    for (auto& [uid, update] : updates_) {
      if (update.status.is_null()) continue;
      next = std::min(next, update.due);
      if (update.due <= now) due.push_back(&update);
    }
    std::ranges::stable_sort(due, {}, &Update::due);
    std::vector<Update> allowed;
    for (Update* const update : due) {
      if (!turns_.take_at_once(now)) break;
      update->is_fresh = false;
      allowed.push_back(*update);
    }
    if (!allowed.empty()) return allowed;
    const double seconds = due.empty() ? next - now : 1 / options_.per_second;  // infinite: there is nothing to write
    options_.clock->wait(lock, changed_, stop, seconds,
                         [this, n_submitted = n_submitted_] { return n_submitted_ != n_submitted; });
  }
  return {};
}

void StatusWriter::write(const Update& update) {
  const StatusSubject& subject = update.subject;
  try {
    writer_.write_status(subject.resource, subject.key, subject.uid, update.status);
    return settle(update, true);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (!is_there_(subject)) return settle(update, true);
    log_(error.what());
  }
  settle(update, false);
}

void StatusWriter::settle(const Update& update, bool is_done) {
  const std::scoped_lock lock(mutex_);
  Update& now = updates_[update.subject.uid];
  now.n_failures = is_done ? 0 : update.n_failures + 1;
  const double retry_seconds = std::min(options_.first_retry_seconds * std::exp2(std::min(update.n_failures, 30U)),
                                        options_.longest_retry_seconds);
  now.due = options_.clock->seconds() + (is_done ? options_.seconds_between : retry_seconds);
  if (is_done && !now.is_fresh) now.status = nullptr;
  // Of those that were written long ago nothing is to be known any more.
  std::erase_if(updates_, [&](const auto& entry) {
    return entry.second.status.is_null() && entry.second.due < options_.clock->seconds();
  });
}

}  // namespace podere::controller
