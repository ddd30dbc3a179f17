#include "podere/cli/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "podere/cli/print.h"

namespace podere::cli {
namespace {

std::string seconds(const Json& figures, const char* name) { return duration(figures.at(name).get<double>()); }
std::string bytes(const Json& figures, const char* name) { return byte_count(figures.at(name).get<double>()); }
std::string rows(const Json& figures, const char* name) { return with_commas(figures.at(name).get<std::uint64_t>()); }

/// A line of the table. What a sum has and a task has not, or the other way round, is left out.
std::vector<std::string> line(std::string name, const std::string& executor, const Json& figures) {
  const auto skew = figures.find("skew");
  return {std::move(name),
          executor,
          seconds(figures, "elapsed_seconds"),
          seconds(figures, "run_seconds"),
          seconds(figures, "wait_seconds"),
          seconds(figures, "cpu_seconds"),
          skew == figures.end() ? ""
          : skew->is_number()   ? fmt::format("{:.2f}", skew->get<double>())
                                : "-",
          bytes(figures, "bytes_read"),
          bytes(figures, "bytes_written"),
          rows(figures, "rows_read"),
          rows(figures, "rows_written"),
          bytes(figures, "peak_memory_bytes")};
}

std::string energy_text(const Json& job) {
  const Json joules = job.value("energy_joules", Json());
  if (joules.is_number()) return fmt::format("{} J, of all that ran on the machine", number(joules));
  return "not measured on this machine (" + job.value("energy_note", "no energy counters") + ")";
}

std::vector<std::pair<std::string, Json>> facts_of(const Json& job) {
  std::vector<std::pair<std::string, Json>> facts = {
      {"CPU", fmt::format("{} user, {} system", seconds(job, "cpu_user_seconds"), seconds(job, "cpu_system_seconds"))},
      {"reading", fmt::format("{} in calls, then {} of CPU to decode; {} came from storage",
                              seconds(job, "read_seconds"), seconds(job, "decode_seconds"),
                              job.at("storage_bytes_read").is_number() ? bytes(job, "storage_bytes_read") : "?")},
      {"writing", seconds(job, "write_seconds") + " in calls"},
      {"sent to others", bytes(job, "bytes_sent")},
      {"wait for storage",
       job.at("io_wait_seconds").is_number() ? seconds(job, "io_wait_seconds") : "not kept by this machine"},
      {"energy", energy_text(job)}};
  if (const auto n = job.at("retries").get<std::uint64_t>(); n > 0) {
    facts.emplace_back("retries",
                       fmt::format("{}, for executors that were lost; {} lost", n, seconds(job, "lost_seconds")));
  }
  return facts;
}

}  // namespace

std::string byte_count(double n_bytes) {
  constexpr std::array<const char*, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (n_bytes < 1000) return fmt::format("{:.0f} B", n_bytes);
  std::size_t unit = 0;
  for (n_bytes /= 1000; n_bytes >= 999.95 && unit + 1 < kUnits.size(); ++unit) n_bytes /= 1000;
  return fmt::format("{:.1f} {}", n_bytes, kUnits[unit]);
}

std::string waiting_text(const Json& facts) {
  constexpr double kShort = 1;                                                      // seconds of each executor
  const bool had_losses = facts.contains("losses") && !facts.at("losses").empty();  // which others wait for
  if (!facts.contains("metrics") || had_losses) return "";
  const Json& job = facts.at("metrics").at("job");
  const int n_executors = facts.value("executors", 1);
  const auto task_seconds = job.at("task_seconds").get<double>();
  const auto wait_seconds = job.at("wait_seconds").get<double>();
  if (n_executors < 2 || task_seconds < kShort * n_executors || wait_seconds < task_seconds / 2) return "";
  const int n_threads = n_executors * facts.value("cores", 1);
  const int cores =
      job.value("hosts", 1) == 1 ? std::min(n_threads, facts.value("usable_cores", n_threads)) : n_threads;
  return fmt::format(
      "executors waited for each other {:.0f} % of the time; fewer with more cores each may be faster, such as "
      "--executors 1 --cores {}",
      100 * wait_seconds / task_seconds, cores);
}

std::string metrics_text(const Json& metrics, bool with_tasks) {
  TextTable table({"phase", "executor", "elapsed", "run", "wait", "CPU", "skew", "read", "written", "rows in",
                   "rows out", "peak memory"});
  for (const Json& phase : metrics.at("phases")) {
    const auto& name = phase.at("phase").get_ref<const std::string&>();
    if (with_tasks) {
      for (const Json& task : metrics.at("tasks")) {
        if (task.at("phase") == name) table.add(line(name, task.at("executor").dump(), task));
      }
    }
    table.add(line(name, "all", phase));
  }
  const Json& job = metrics.at("job");
  table.add(line("job", "all", job));
  return table.text() + "\n" + facts_text(facts_of(job));
}

}  // namespace podere::cli
