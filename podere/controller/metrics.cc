#include "podere/controller/metrics.h"

namespace podere::controller {
namespace {

constexpr double kCycleSeconds = 3600;
constexpr const char* kReclaims = "podere_operator_reclaims_total";
constexpr const char* kReclaimsHelp = "Executors that were reclaimed for another farm.";

/// Of what is counted elsewhere.
void raise_to(prometheus::Counter& counter, std::uint64_t total) {
  const double more = static_cast<double>(total) - counter.Value();
  if (more > 0) counter.Increment(more);
}

prometheus::Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help,
                                 const prometheus::Histogram::BucketBoundaries& bounds) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add({}, bounds);
}

}  // namespace

Metrics::Metrics()
    : reclaims_for_guarantee_(counter(kReclaims, kReclaimsHelp, {{"reason", "guarantee"}})),
      reclaims_for_share_(counter(kReclaims, kReclaimsHelp, {{"reason", "share"}})),
      cycles_(counter(
          "podere_operator_cycles_total",
          "Executors reclaimed from a farm for another from which one was reclaimed for it within the last hour.")),
      created_(counter("podere_operator_executors_created_total", "Executor pods that were made from templates.")),
      removed_(counter("podere_operator_executors_removed_total",
                       "Executor pods deleted because their farm wants fewer or there is no room to borrow.")),
      failures_(counter("podere_operator_pass_failures_total", "Passes over the farms of a manager that failed.")),
      leading_(gauge("podere_operator_leader", "Whether this process leads.")),
      time_to_guarantee_(histogram(registry_, "podere_operator_time_to_guarantee_seconds",
                                   "How long farms that came below their guarantee were below it, drains included.",
                                   {1, 2, 5, 10, 20, 30, 60, 90, 120, 180, 300, 600, 1800, 3600})),
      decisions_(histogram(registry_, "podere_operator_decision_seconds", "Duration of decisions.",
                           {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1})) {}

prometheus::Counter& Metrics::counter(const char* name, const char* help, const prometheus::Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels);
}
prometheus::Gauge& Metrics::gauge(const char* name, const char* help, const prometheus::Labels& labels) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels);
}

void Metrics::executor_reclaimed(const std::string& from, const std::string& for_farm, bool for_guarantee, double now) {
  (for_guarantee ? reclaims_for_guarantee_ : reclaims_for_share_).Increment();
  std::erase_if(last_reclaimed_, [&](const auto& entry) { return entry.second + kCycleSeconds < now; });
  if (last_reclaimed_.contains({for_farm, from})) cycles_.Increment();
  last_reclaimed_[{from, for_farm}] = now;
}

void Metrics::wrote(const std::string& what, int status) {
  counter("podere_operator_writes_total", "Writes to the API server, by what and by the status of the answer.",
          {{"what", what}, {"status", status == 0 ? "none" : std::to_string(status)}})
      .Increment();
}

void Metrics::set_queue(const kube::WorkQueue::Counts& counts) {
  gauge("podere_operator_queue_depth", "Managers whose farms are to be looked at now.")
      .Set(static_cast<double>(counts.n_waiting));
  gauge("podere_operator_queue_delayed", "Managers whose farms are to be looked at later.")
      .Set(static_cast<double>(counts.n_delayed));
  raise_to(counter("podere_operator_queue_added_total", "Times that a manager's farms were to be looked at."),
           counts.n_added);
  raise_to(counter("podere_operator_queue_retries_total", "Passes that were put off because one had failed."),
           counts.n_retries);
}

void Metrics::set_watches(const std::string& plural, const kube::Reflector::Counts& counts) {
  const prometheus::Labels labels = {{"resource", plural}};
  raise_to(counter("podere_operator_lists_total", "Lists that were asked for.", labels), counts.n_lists);
  raise_to(counter("podere_operator_watch_restarts_total", "Watches after the first.", labels),
           counts.n_watches - (counts.n_watches > 0 ? 1 : 0));
  raise_to(counter("podere_operator_watch_failures_total", "Lists and watches that failed.", labels),
           counts.n_failures);
}

void Metrics::set_farms(const std::string& manager, std::size_t n_farms, std::int64_t n_executors,
                        std::int64_t n_missing) {
  const prometheus::Labels labels = {{"manager", manager}};
  gauge("podere_operator_farms", "Farms of a manager.", labels).Set(static_cast<double>(n_farms));
  gauge("podere_operator_executors", "Executors on nodes that are to stay.", labels)
      .Set(static_cast<double>(n_executors));
  gauge("podere_operator_missing_below_guarantee", "Executors that farms lack below their guarantees.", labels)
      .Set(static_cast<double>(n_missing));
}

}  // namespace podere::controller
