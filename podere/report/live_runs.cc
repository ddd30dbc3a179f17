#include "podere/report/live_runs.h"

#include <iterator>
#include <utility>

namespace podere::report {
namespace {

constexpr std::int64_t kKeptTasks = 16;

}  // namespace

void LiveRuns::begin(std::int64_t job, RunTitle title) {
  const std::lock_guard lock(mutex_);
  runs_[job] = std::make_unique<Run>(std::move(title));
}

void LiveRuns::report(std::int64_t job, const ProgressStep& step) {
  const std::lock_guard lock(mutex_);
  Run& run = *runs_.at(job);
  run.recorder->report(step);
  ++run.revision;
}

void LiveRuns::warn(std::int64_t job, const std::string& message) {
  const std::lock_guard lock(mutex_);
  Run& run = *runs_.at(job);
  run.recorder->warn(message);
  ++run.revision;
}

std::string LiveRuns::text_of(std::int64_t job, const Run& run, Json result, const std::string& state) {
  Json json = {{"name", run.title.name}, {"job", job}};
  json.update(run.recorder->run(run.title.command, run.title.arguments, std::move(result)));
  if (!state.empty()) json["state"] = state;
  return to_text(json);
}

void LiveRuns::end(std::int64_t job, Json result, const std::string& state) {
  const std::lock_guard lock(mutex_);
  Run& run = *runs_.at(job);
  run.text = text_of(job, run, std::move(result), state);
  run.recorder.reset();
  ++run.revision;
  n_bytes_ += run.text.size();
  forget_tasks(job - kKeptTasks);
  forget_oldest();
}

void LiveRuns::forget_tasks(std::int64_t job) {
  const auto found = runs_.find(job);
  if (found == runs_.end() || !found->second->has_ended()) return;
  Json run = Json::parse(found->second->text);
  const Json::json_pointer metrics("/result/metrics");
  if (!run.contains(metrics) || !run[metrics].is_object() || run[metrics].erase("tasks") == 0) return;
  n_bytes_ -= found->second->text.size();
  found->second->text = to_text(run);
  n_bytes_ += found->second->text.size();
}

void LiveRuns::forget_oldest() {
  for (auto run = runs_.begin(); n_bytes_ > most_bytes_ && std::next(run) != runs_.end();) {
    if (!run->second->has_ended()) {
      ++run;
      continue;
    }
    n_bytes_ -= run->second->text.size();
    run = runs_.erase(run);
  }
}

Json LiveRuns::state(std::int64_t job) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(job);
  if (found == runs_.end()) return nullptr;
  const Run& run = *found->second;
  Json state = {{"revision", run.revision}, {"seconds_left", nullptr}};
  const double left = run.has_ended() ? -1 : run.recorder->seconds_left();
  if (left >= 0) state["seconds_left"] = left;
  return state;
}

std::optional<std::string> LiveRuns::text(std::int64_t job) const {
  const std::lock_guard lock(mutex_);
  const auto found = runs_.find(job);
  if (found == runs_.end()) return std::nullopt;
  const Run& run = *found->second;
  return run.has_ended() ? run.text : text_of(job, run, nullptr, "");
}

}  // namespace podere::report
