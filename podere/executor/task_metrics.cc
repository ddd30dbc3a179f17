#include "podere/executor/task_metrics.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "podere/base/memory.h"
#include "podere/jobs/event_stream.h"

namespace podere::executor {
namespace {

/// What is added up over tasks. Where one of them does not know, the sum is not known.
constexpr std::array<std::string_view, 16> kSums = {
    "run_seconds",           "wait_seconds",   "cpu_seconds",   "cpu_user_seconds",
    "cpu_system_seconds",    "decode_seconds", "read_seconds",  "write_seconds",
    "io_wait_seconds",       "bytes_read",     "bytes_written", "storage_bytes_read",
    "storage_bytes_written", "bytes_sent",     "rows_read",     "rows_written"};
constexpr std::string_view kEnergy = "energy_joules";
constexpr std::string_view kEnergyNote = "energy_note";

template <typename T>
Json difference(const std::optional<T>& before, const std::optional<T>& now) {
  // A count of threads that are there now falls when one of them ends.
  return before && now ? Json(std::max(*now, *before) - *before) : Json();
}

void add(Json& sum, const Json& term) {
  if (sum.is_null() || term.is_null()) {
    sum = nullptr;
  } else if (sum.is_number_unsigned() && term.is_number_unsigned()) {
    sum = sum.get<std::uint64_t>() + term.get<std::uint64_t>();
  } else {
    sum = sum.get<double>() + term.get<double>();
  }
}

void add_figure(Json& sum, const Json& term, std::string_view name) {
  if (sum.contains(name)) {
    add(sum[name], term.at(name));
  } else {
    sum[name] = term.at(name);
  }
}

/// Adds the figures of `term`, which may be a task or a sum of tasks.
void add_figures(Json& sum, const Json& term) {
  for (const std::string_view name : kSums) add_figure(sum, term, name);
  // Most executors leave the counters of their machine to another.
  if (term.contains(kEnergy)) add_figure(sum, term, kEnergy);
  if (term.contains(kEnergyNote) && !sum.contains(kEnergyNote)) sum[kEnergyNote] = term[kEnergyNote];
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// `tasks` are those of one phase.
Json sum_of_phase(const std::string& phase, const std::vector<Json>& tasks, const Json& losses) {
  Json sum = {{"phase", phase}, {"tasks", tasks.size()}, {"elapsed_seconds", 0.0}, {"task_seconds", 0.0}};
  std::vector<double> runs;
  Json slowest;
  std::uint64_t peak_memory_bytes = 0;
  for (const Json& task : tasks) {
    const auto elapsed = task.at("elapsed_seconds").get<double>();
    sum["elapsed_seconds"] = std::max(sum["elapsed_seconds"].get<double>(), elapsed);
    sum["task_seconds"] = sum["task_seconds"].get<double>() + elapsed;
    const auto run = task.at("run_seconds").get<double>();
    if (runs.empty() || run > std::ranges::max(runs)) slowest = task.at("executor");
    runs.push_back(run);
    peak_memory_bytes = std::max(peak_memory_bytes, task.at("peak_memory_bytes").get<std::uint64_t>());
    add_figures(sum, task);
  }
  sum["slowest_executor"] = slowest;
  sum["skew"] = median(runs) > 0 ? Json(std::ranges::max(runs) / median(runs)) : Json();
  sum["peak_memory_bytes"] = peak_memory_bytes;
  const auto is_here = [&](const Json& loss) { return loss.value("phase", "") == phase; };
  sum["retries"] = std::count_if(losses.begin(), losses.end(), is_here);
  return sum;
}

Json phases_of(const Json& tasks, const Json& losses) {
  std::vector<std::pair<std::string, std::vector<Json>>> by_phase;  // in order
  for (const Json& task : tasks) {
    const auto& name = task.at("phase").get_ref<const std::string&>();
    auto found = std::ranges::find_if(by_phase, [&](const auto& phase) { return phase.first == name; });
    if (found == by_phase.end()) found = by_phase.insert(by_phase.end(), {name, {}});
    found->second.push_back(task);
  }
  Json phases = Json::array();
  for (const auto& [name, of_phase] : by_phase) phases.push_back(sum_of_phase(name, of_phase, losses));
  return phases;
}

}  // namespace

TaskMeter::TaskMeter(const comm::Communicator& group, const std::filesystem::path& powercap) : group_(group) {
  const std::uint64_t machine = machine_identity();
  const std::vector<std::uint64_t> machines = group.all_gather(machine);
  const auto first = std::ranges::find(machines, machine) - machines.begin();
  if (first == group.rank()) energy_.emplace(powercap);
  take_peak_memory_bytes();
  before_ = read_counters();
}

TaskMeter::Counters TaskMeter::read_counters() {
  Counters now{.seconds = watch_.seconds(), .usage = process_usage(), .files = file_traffic(), .joules = {}};
  for (const comm::Traffic& traffic : group_.traffic()) {
    now.wait_seconds += traffic.seconds;
    now.bytes_sent += traffic.bytes;
  }
  if (energy_) now.joules = energy_->joules();
  return now;
}

void TaskMeter::enter(const std::string& phase) {
  if (energy_) energy_->keep_up();
  if (phase == phase_) return;
  if (!phase_.empty()) close_task();
  phase_ = phase;
}

void TaskMeter::count_rows(std::uint64_t n_read, std::uint64_t n_written) {
  rows_read_ += n_read;
  rows_written_ += n_written;
}

void TaskMeter::end() {
  if (phase_.empty()) phase_ = "work";
  close_task();
}

void TaskMeter::close_task() {
  const Counters now = read_counters();
  const Json figures = figures_since(before_, now);
  before_ = now;
  rows_read_ = rows_written_ = 0;
  const auto found = std::ranges::find_if(tasks_, [&](const Task& task) { return task.phase == phase_; });
  if (found == tasks_.end()) {
    tasks_.push_back({phase_, figures});
    return;
  }
  const auto peak = std::max(found->figures["peak_memory_bytes"].get<std::uint64_t>(),
                             figures["peak_memory_bytes"].get<std::uint64_t>());
  add(found->figures["elapsed_seconds"], figures["elapsed_seconds"]);
  add_figures(found->figures, figures);
  found->figures["peak_memory_bytes"] = peak;
}

Json TaskMeter::figures_since(const Counters& before, const Counters& now) const {
  const double elapsed = now.seconds - before.seconds;
  const double wait = std::min(now.wait_seconds - before.wait_seconds, elapsed);
  const double user = now.usage.user_seconds - before.usage.user_seconds;
  const double system = now.usage.system_seconds - before.usage.system_seconds;
  Json figures = {
      {"elapsed_seconds", elapsed},
      {"run_seconds", elapsed - wait},
      {"wait_seconds", wait},
      {"cpu_seconds", user + system},
      {"cpu_user_seconds", user},
      {"cpu_system_seconds", system},
      {"decode_seconds", now.files.decode_seconds - before.files.decode_seconds},
      {"read_seconds", now.files.read_seconds - before.files.read_seconds},
      {"write_seconds", now.files.write_seconds - before.files.write_seconds},
      {"io_wait_seconds", difference(before.usage.io_wait_seconds, now.usage.io_wait_seconds)},
      {"bytes_read", now.files.bytes_read - before.files.bytes_read},
      {"bytes_written", now.files.bytes_written - before.files.bytes_written},
      {"storage_bytes_read", difference(before.usage.storage_bytes_read, now.usage.storage_bytes_read)},
      {"storage_bytes_written", difference(before.usage.storage_bytes_written, now.usage.storage_bytes_written)},
      {"bytes_sent", now.bytes_sent - before.bytes_sent},
      {"rows_read", rows_read_},
      {"rows_written", rows_written_},
      {"peak_memory_bytes", take_peak_memory_bytes()}};
  if (energy_) {
    figures[kEnergy] = difference(before.joules, now.joules);
    if (!energy_->why_unset().empty()) figures[kEnergyNote] = energy_->why_unset();
  }
  return figures;
}

Json TaskMeter::gather(const comm::Communicator& all) const {
  Json own = Json::array();
  for (const Task& task : tasks_) {
    Json report = {{"phase", task.phase}, {"executor", all.rank()}, {"host", jobs::host_name()}};
    report.update(task.figures);
    own.push_back(std::move(report));
  }
  const std::string text = to_text(own) + "\n";
  const std::vector<char> texts = all.all_gather_v(std::span<const char>(text));
  if (!all.is_root()) return nullptr;
  std::vector<Json> tasks;
  for (auto begin = texts.begin(); begin != texts.end();) {
    const auto end = std::find(begin, texts.end(), '\n');
    for (Json& task : Json::parse(begin, end)) tasks.push_back(std::move(task));
    begin = end + 1;
  }
  // All ranks have the phases of rank 0 in its order.
  const auto place = [&](const Json& task) {
    return std::ranges::find_if(tasks_, [&](const Task& own_task) { return own_task.phase == task["phase"]; }) -
           tasks_.begin();
  };
  std::stable_sort(tasks.begin(), tasks.end(), [&](const Json& a, const Json& b) { return place(a) < place(b); });
  return tasks;
}

Json job_metrics(const std::string& kind, Json tasks, const Json& losses, double elapsed_seconds) {
  Json phases = phases_of(tasks, losses);
  std::set<int> executors;
  std::set<std::string> hosts;
  for (const Json& task : tasks) {
    executors.insert(task.at("executor").get<int>());
    hosts.insert(task.at("host").get<std::string>());
  }
  Json job = {{"kind", kind},
              {"executors", executors.size()},
              {"hosts", hosts.size()},
              {"elapsed_seconds", elapsed_seconds},
              {"task_seconds", 0.0}};
  std::uint64_t peak_memory_bytes = 0;
  for (const Json& phase : phases) {
    add(job["task_seconds"], phase["task_seconds"]);
    add_figures(job, phase);
    peak_memory_bytes = std::max(peak_memory_bytes, phase["peak_memory_bytes"].get<std::uint64_t>());
  }
  for (const std::string_view name : kSums) {
    if (!job.contains(name)) job[name] = 0;
  }
  job["peak_memory_bytes"] = peak_memory_bytes;
  double lost_seconds = 0;
  for (const Json& loss : losses) lost_seconds += loss.at("seconds_lost").get<double>();
  job["retries"] = losses.size();
  job["lost_seconds"] = lost_seconds;
  return {{"job", std::move(job)}, {"phases", std::move(phases)}, {"tasks", std::move(tasks)}};
}

}  // namespace podere::executor
