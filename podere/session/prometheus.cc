#include "podere/session/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

namespace podere::session {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

struct Figure {
  std::string_view key;   ///< in the metrics of a job
  std::string_view name;  ///< for Prometheus, which wants base units and, of counters, the ending _total
  std::string_view help;
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
    Figure{"rows_read", "podere_task_read_rows_total", "Rows taken in."},
    Figure{"rows_written", "podere_task_written_rows_total", "Rows given out."},
};
constexpr std::array kJobFigures = {
    Figure{"elapsed_seconds", "podere_job_seconds_total", "Time that jobs took."},
    Figure{"energy_joules", "podere_job_energy_joules_total", "Energy of the processors while jobs ran."},
};

/// Backslash, quote and line end are written as two characters, in labels.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || c == '"') result += '\\';
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result;
}

std::string number_text(const Json& value) {
  return value.is_number_float() ? fmt::format("{}", value.get<double>()) : value.dump();
}

class Exposition {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    fmt::format_to(std::back_inserter(text_), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
  }
  void add(const Labels& labels, const Json& value) {
    text_ += name_;
    std::string_view separator = "{";
    for (const auto& [label, content] : labels) {
      fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", separator, label, escaped(content));
      separator = ",";
    }
    fmt::format_to(std::back_inserter(text_), "{} {}\n", labels.empty() ? "" : "}", number_text(value));
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
  std::string name_;
};

/// Where one job does not know, nothing is added: a counter must not fall, nor end.
void add(Json& sums, std::string_view key, const Json& figures) {
  const auto found = figures.find(key);
  if (found == figures.end() || found->is_null()) return;
  if (!sums.contains(key)) {
    sums[key] = *found;
  } else if (found->is_number_unsigned()) {
    sums[key] = sums[key].get<std::uint64_t>() + found->get<std::uint64_t>();
  } else {
    sums[key] = sums[key].get<double>() + found->get<double>();
  }
}

}  // namespace

void SessionCounters::add_job(const std::string& kind, const std::string& state, const Json& metrics) {
  ++jobs_[{kind, state}];
  if (metrics.is_null()) return;
  const Json& job = metrics.at("job");
  for (const Figure& figure : kJobFigures) add(by_kind_[kind], figure.key, job);
  for (const Json& phase : metrics.at("phases")) {
    Json& sums = by_phase_.try_emplace({kind, phase.at("phase").get<std::string>()}, Json::object()).first->second;
    for (const Figure& figure : kTaskFigures) add(sums, figure.key, phase);
    sums["peak_memory_bytes"] =
        std::max(sums.value("peak_memory_bytes", std::uint64_t{0}), phase.at("peak_memory_bytes").get<std::uint64_t>());
  }
  losses_ += job.at("retries").get<std::uint64_t>();
  lost_seconds_ += job.at("lost_seconds").get<double>();
}

std::string SessionCounters::text(int n_executors) const {
  Exposition out;
  out.begin("podere_executors", "gauge", "Executors of the session.");
  out.add({}, n_executors);
  out.begin("podere_executor_losses_total", "counter", "Times that executors were lost and work was begun again.");
  out.add({}, losses_);
  out.begin("podere_lost_seconds_total", "counter", "Time that losses of executors have cost.");
  out.add({}, lost_seconds_);
  out.begin("podere_jobs_total", "counter", "Jobs that have come to their end.");
  for (const auto& [job, n] : jobs_) out.add({{"kind", job.first}, {"state", job.second}}, n);
  for (const Figure& figure : kJobFigures) {
    out.begin(figure.name, "counter", figure.help);
    for (const auto& [kind, sums] : by_kind_) {
      if (sums.contains(figure.key)) out.add({{"kind", kind}}, sums[figure.key]);
    }
  }
  const auto add_by_phase = [&](std::string_view key) {
    for (const auto& [task, sums] : by_phase_) {
      if (sums.contains(key)) out.add({{"kind", task.first}, {"phase", task.second}}, sums[key]);
    }
  };
  for (const Figure& figure : kTaskFigures) {
    out.begin(figure.name, "counter", figure.help);
    add_by_phase(figure.key);
  }
  out.begin("podere_task_peak_memory_bytes", "gauge", "The most memory that a task of any executor has held.");
  add_by_phase("peak_memory_bytes");
  return std::move(out).text();
}

}  // namespace podere::session
