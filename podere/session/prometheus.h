// What the jobs of a session have cost, as Prometheus scrapes it.
#pragma once

#include <prometheus/registry.h>

#include <memory>
#include <string>

#include "podere/jobs/job.h"

namespace podere::session {

/// Counters over all jobs of a session, which a prometheus::Exposer shows. Thread-safe.
class SessionCounters {
 public:
  SessionCounters();

  /// A job has come to its end: `kind` is that of a job, `state` is a word such as "done", "failed", "cancelled";
  /// `metrics` are those of job_metrics, or null where there are none. Throws Json::exception for metrics that are
  /// none.
  void add_job(const std::string& kind, const std::string& state, const Json& metrics);
  /// So many are there now.
  void set_executors(int n_executors);

  std::shared_ptr<prometheus::Collectable> all() const { return registry_; }

 private:
  std::shared_ptr<prometheus::Registry> registry_;
};

}  // namespace podere::session
