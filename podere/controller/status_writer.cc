#include "podere/controller/status_writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "podere/base/interrupt.h"
#include "podere/controller/abreast.h"

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

void StatusWriter::tell(const StatusSubject& subject, Json status) {
  const std::scoped_lock lock(mutex_);
  News& news = news_[subject.uid];
  news.subject = subject;
  news.status = std::move(status);
  news.is_new = true;
  ++n_told_;
  changed_.notify_all();
}

void StatusWriter::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      const std::vector<News> due = wait_for_due(stop);
      for_each_abreast(due.size(), options_.n_abreast, [&](std::size_t i) {
        if (!stop.stop_requested()) write(due[i]);
      });
    }
  } catch (const Interrupted&) {
    // this process may write no longer
  }
}

/// Those whose time has come, whose was first of all first, as many as may be written by now.
std::vector<StatusWriter::News> StatusWriter::wait_for_due(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const double now = clock_.seconds();
    double next = std::numeric_limits<double>::infinity();
    std::vector<News*> due;
    for (auto& [uid, news] : news_) {
      if (news.status.is_null()) continue;
      next = std::min(next, news.due);
      if (news.due <= now) due.push_back(&news);
    }
    std::ranges::stable_sort(due, {}, &News::due);
    std::vector<News> taken;
    for (News* const news : due) {
      if (!turns_.take_at_once(now)) break;
      news->is_new = false;
      taken.push_back(*news);
    }
    if (!taken.empty()) return taken;
    const auto is_told_more = [this, n_told = n_told_] { return n_told_ != n_told; };
    if (std::isinf(next)) {
      changed_.wait(lock, stop, is_told_more);
    } else {
      const double seconds = due.empty() ? next - now : 1 / options_.per_second;
      changed_.wait_for(lock, stop, std::chrono::duration<double>(seconds), is_told_more);
    }
  }
  return {};
}

void StatusWriter::write(const News& news) {
  const StatusSubject& subject = news.subject;
  try {
    writer_.write_status(subject.resource, subject.key, subject.uid, news.status);
    return settle(news, true);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (!is_there_(subject)) return settle(news, true);
    log_(error.what());
  }
  settle(news, false);
}

void StatusWriter::settle(const News& news, bool is_done) {
  const std::scoped_lock lock(mutex_);
  News& now = news_[news.subject.uid];
  now.n_failures = is_done ? 0 : news.n_failures + 1;
  const double retry_seconds = std::min(options_.first_retry_seconds * std::exp2(std::min(news.n_failures, 30U)),
                                        options_.longest_retry_seconds);
  now.due = clock_.seconds() + (is_done ? options_.seconds_between : retry_seconds);
  if (is_done && !now.is_new) now.status = nullptr;
  // Of those that were written long ago nothing is to be known any more.
  std::erase_if(
      news_, [&](const auto& entry) { return entry.second.status.is_null() && entry.second.due < clock_.seconds(); });
}

}  // namespace podere::controller
