#include "podere/session/prometheus.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>

#include <algorithm>
#include <array>

namespace podere::session {
namespace {

struct Figure {
  const char* key;   ///< in the metrics of a job
  const char* name;  ///< for Prometheus, which wants base units and, of counters, the ending _total
  const char* help;
};

constexpr std::array kTaskFigures = {
    Figure{"task_seconds", "podere_task_seconds_total", "Time that tasks took, summed over executors."},
    Figure{"run_seconds", "podere_task_run_seconds_total", "The part of it that was not spent in collectives."},
    Figure{"wait_seconds", "podere_task_wait_seconds_total", "The part of it that was: waiting for others, sending."},
    Figure{"cpu_seconds", "podere_task_cpu_seconds_total", "CPU time of all threads, user and system."},
    Figure{"cpu_user_seconds", "podere_task_cpu_user_seconds_total", "CPU time of all threads in user mode."},
    Figure{"cpu_system_seconds", "podere_task_cpu_system_seconds_total", "CPU time of all threads in the kernel."},
    Figure{"decode_seconds", "podere_task_decode_seconds_total", "CPU time of inflating and parsing files."},
    Figure{"read_seconds", "podere_task_file_read_seconds_total", "Time of all threads in calls that read files."},
    Figure{"write_seconds", "podere_task_file_write_seconds_total", "Time of all threads in calls that write files."},
    Figure{"io_wait_seconds", "podere_task_io_wait_seconds_total", "Time that threads waited for block devices."},
    Figure{"bytes_read", "podere_task_read_bytes_total", "Bytes read from files."},
    Figure{"bytes_written", "podere_task_written_bytes_total", "Bytes written to files."},
    Figure{"storage_bytes_read", "podere_task_storage_read_bytes_total", "Bytes that came from the storage itself."},
    Figure{"storage_bytes_written", "podere_task_storage_written_bytes_total", "Bytes meant for the storage itself."},
    Figure{"bytes_sent", "podere_task_sent_bytes_total", "Bytes sent to other executors."},
    Figure{"rows_read", "podere_task_read_rows_total", "Rows read."},
    Figure{"rows_written", "podere_task_written_rows_total", "Rows given out."},
};
constexpr std::array kJobFigures = {
    Figure{"elapsed_seconds", "podere_job_seconds_total", "Time that jobs took."},
    Figure{"energy_joules", "podere_job_energy_joules_total", "Energy of the processors while jobs ran."},
};
constexpr Figure kJobs = {"", "podere_jobs_total", "Jobs that have come to their end."};
constexpr Figure kLosses = {"retries", "podere_executor_losses_total",
                            "Times that executors were lost and work was begun again."};
constexpr Figure kLostSeconds = {"lost_seconds", "podere_lost_seconds_total",
                                 "Time that losses of executors have cost."};
constexpr Figure kExecutors = {"", "podere_executors", "Executors of the session."};
constexpr Figure kPeakMemory = {"peak_memory_bytes", "podere_task_peak_memory_bytes",
                                "The most memory that a task of any executor has held."};

// Registering a family again, or adding its labels again, gives the one that is there.
prometheus::Counter& counter(prometheus::Registry& registry, const Figure& figure, const prometheus::Labels& labels) {
  return prometheus::BuildCounter().Name(figure.name).Help(figure.help).Register(registry).Add(labels);
}
prometheus::Gauge& gauge(prometheus::Registry& registry, const Figure& figure, const prometheus::Labels& labels) {
  return prometheus::BuildGauge().Name(figure.name).Help(figure.help).Register(registry).Add(labels);
}

/// Where one job does not know, nothing is added: a counter must not fall, nor end.
void add(prometheus::Registry& registry, const Figure& figure, const prometheus::Labels& labels, const Json& figures) {
  const Json value = figures.value(figure.key, Json());
  if (!value.is_null()) counter(registry, figure, labels).Increment(value.get<double>());
}

}  // namespace

SessionCounters::SessionCounters() : registry_(std::make_shared<prometheus::Registry>()) {
  counter(*registry_, kLosses, {});  // 0 from the start, so that its first step is seen
  counter(*registry_, kLostSeconds, {});
}

void SessionCounters::add_job(const std::string& kind, const std::string& state, const Json& metrics) {
  counter(*registry_, kJobs, {{"kind", kind}, {"state", state}}).Increment();
  if (metrics.is_null()) return;
  const Json& job = metrics.at("job");
  for (const Figure& figure : kJobFigures) add(*registry_, figure, {{"kind", kind}}, job);
  for (const Json& phase : metrics.at("phases")) {
    const prometheus::Labels labels = {{"kind", kind}, {"phase", phase.at("phase").get<std::string>()}};
    for (const Figure& figure : kTaskFigures) add(*registry_, figure, labels, phase);
    auto& peak = gauge(*registry_, kPeakMemory, labels);
    peak.Set(std::max(peak.Value(), phase.at(kPeakMemory.key).get<double>()));
  }
  add(*registry_, kLosses, {}, job);
  add(*registry_, kLostSeconds, {}, job);
}

void SessionCounters::set_executors(int n_executors) { gauge(*registry_, kExecutors, {}).Set(n_executors); }

}  // namespace podere::session
