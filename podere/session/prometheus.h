// What the jobs of a session have cost, as Prometheus reads it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "podere/session/job.h"

namespace podere::session {

/// Counters over all jobs of a session. Not thread-safe.
class SessionCounters {
 public:
  /// A job has come to its end: `state` is a word such as "done", "failed", "cancelled"; `metrics` are those of
  /// job_metrics, or null where there are none. Throws Json::exception for metrics that are none.
  void add_job(const std::string& kind, const std::string& state, const Json& metrics);

  /// Text exposition format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/. `n_executors` are
  /// there now.
  std::string text(int n_executors) const;

 private:
  using KindAndState = std::pair<std::string, std::string>;
  using KindAndPhase = std::pair<std::string, std::string>;
  std::map<KindAndState, std::uint64_t> jobs_;
  std::map<std::string, Json> by_kind_;    // figures of jobs
  std::map<KindAndPhase, Json> by_phase_;  // figures of tasks
  std::uint64_t losses_ = 0;
  double lost_seconds_ = 0;
};

/// The content type of that text, for HTTP.
inline constexpr std::string_view kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

}  // namespace podere::session
