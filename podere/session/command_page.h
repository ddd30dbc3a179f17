// The page of one command.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "podere/base/progress.h"
#include "podere/session/job_queue.h"
#include "podere/session/live_page.h"
#include "podere/session/session.h"

namespace podere::session {

/// Shows a command as a session of one job. Passes reports on.
class CommandPage : public Progress {
 public:
  /// Serves the page at `address`, or at a port after that. Throws InputError if it cannot listen there.
  CommandPage(const std::string& address, report::RunTitle title, const Session::Options& wanted, Progress& next);

  /// The session that does the job, from now on until end().
  void watch(const Session& session);
  /// `result` as of Session::run.
  void end(const Json& result);
  /// The command ends without a result. `message` is the cause; empty: it was interrupted.
  void fail(const std::string& message);
  std::string link() const { return page_->link(); }

  void report(const ProgressStep& step) override;
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { next_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override;
  bool stop_requested() override;
  bool checkpoint_requested() override { return next_.checkpoint_requested(); }

 private:
  void refresh();
  Json status() const;

  Progress& next_;
  const Session* session_ = nullptr;
  JobQueue queue_;
  report::LiveRuns runs_;
  std::int64_t job_ = 0;
  bool has_ended_ = false;
  std::optional<Stopwatch> since_refresh_;
  std::string last_words_;
  mutable std::mutex mutex_;  // guards the status
  Json status_;
  std::unique_ptr<LivePage> page_;  // goes first
};

}  // namespace podere::session
