// What the operator did, as Prometheus scrapes it.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "podere/kube/reflector.h"
#include "podere/kube/work_queue.h"

namespace podere::controller {

/// Thread-safe but for executor_reclaimed(), which one thread calls.
class Metrics {
 public:
  Metrics();

  /// An executor of `from` was reclaimed for another farm. Times are seconds of one clock: from A for B and from B
  /// for A within an hour is a cycle.
  void executor_reclaimed(const std::string& from, const std::string& for_farm, bool for_guarantee, double now);
  void executor_created() { created_.Increment(); }
  void executor_removed() { removed_.Increment(); }
  /// A farm that was below its guarantee for so long has it again.
  void guarantee_met(double seconds) { time_to_guarantee_.Observe(seconds); }
  void decided(double seconds) { decisions_.Observe(seconds); }
  void pass_failed() { failures_.Increment(); }
  /// `status` is that of HTTP; 0: no answer came.
  void wrote(const std::string& what, int status);

  void set_queue(const kube::WorkQueue::Counts& counts);
  void set_watches(const std::string& plural, const kube::Reflector::Counts& counts);
  void set_leading(bool is_leader) { leading_.Set(is_leader ? 1 : 0); }
  /// Of the farms of one manager.
  void set_farms(const std::string& manager, std::size_t n_farms, std::int64_t n_executors, std::int64_t n_missing);

  std::vector<prometheus::MetricFamily> families() const { return registry_.Collect(); }

 private:
  prometheus::Counter& counter(const char* name, const char* help, const prometheus::Labels& labels = {});
  prometheus::Gauge& gauge(const char* name, const char* help, const prometheus::Labels& labels = {});

  prometheus::Registry registry_;
  prometheus::Counter& reclaims_for_guarantee_;
  prometheus::Counter& reclaims_for_share_;
  prometheus::Counter& cycles_;
  prometheus::Counter& created_;
  prometheus::Counter& removed_;
  prometheus::Counter& failures_;
  prometheus::Gauge& leading_;
  prometheus::Histogram& time_to_guarantee_;
  prometheus::Histogram& decisions_;
  std::map<std::pair<std::string, std::string>, double> last_reclaimed_;  // from, for
};

}  // namespace podere::controller
