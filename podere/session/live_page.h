// The page of a driver, which shows what it does now: docs/page.md.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/json.h"
#include "podere/http/metrics.h"
#include "podere/http/page_server.h"
#include "podere/report/live_runs.h"
#include "podere/session/driver.h"

namespace podere::session {

/// Where the page is by default; the next port if that is in use.
inline constexpr const char* kPageAddress = "127.0.0.1:8650";

/// Serves the page and its API to browsers that know the token. It only reads.
class LivePage {
 public:
  struct Options {
    std::string address = kPageAddress;  ///< port 0: any that is free
    /// What `session status` shows: "session", "executors", "each", "tables", "jobs", ... Called on the server's
    /// threads.
    std::function<Json()> status;
    std::function<std::vector<prometheus::MetricFamily>()> metrics;  ///< likewise; empty: there are none
  };

  /// `runs` are those of the jobs that the status names; they outlive this. Throws InputError if it cannot listen
  /// there.
  LivePage(Options options, const report::LiveRuns& runs);
  /// Where a browser follows, waits up to 2 s until it has seen the end.
  ~LivePage();
  LivePage(const LivePage&) = delete;
  LivePage& operator=(const LivePage&) = delete;

  /// "http://127.0.0.1:8650/?token=..."
  std::string link() const { return server_->link(); }
  /// Whether another port than that of `address` was taken.
  bool has_moved() const { return server_->has_moved(); }

 private:
  http::Answer answer(const http::Request& request);
  Json state();
  /// Who asks for the session follows it.
  void note_request(bool is_of_session);

  const Options options_;
  const report::LiveRuns& runs_;
  std::mutex mutex_;  // guards the next three
  std::optional<Stopwatch> since_request_;
  bool has_ended_ = false;
  bool end_was_seen_ = false;
  std::unique_ptr<http::PageServer> server_;  // goes first
};

/// What a report has of the result of a job: its facts, with losses and metrics.
Json shown_of(const Json& result);

/// What `session status` has of each executor.
Json to_json(const std::vector<ExecutorSign>& executors);

}  // namespace podere::session
