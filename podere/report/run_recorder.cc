#include "podere/report/run_recorder.h"

#include <fmt/chrono.h>

#include <ctime>

namespace podere::report {

namespace {

constexpr const char* kTraining = "train";  // the phase
constexpr std::size_t kMostEvents = 1000;

}  // namespace

double seconds_left(const ProgressStep& step, std::size_t first_done, double elapsed_seconds) {
  if (step.done <= first_done || step.done > step.total) return -1;
  return elapsed_seconds / static_cast<double>(step.done - first_done) * static_cast<double>(step.total - step.done);
}

std::string RunRecorder::now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

void RunRecorder::report(const ProgressStep& step) {
  const double seconds = watch_.seconds();
  if (phases_.empty() || phases_.back().name != step.phase)
    phases_.push_back({step.phase, seconds, seconds, step.done});
  phases_.back().end = seconds;
  last_step_ = step;
  if (!step.search.empty()) {
    score_ = step.search.at("score").get<std::string>();
    for (const Json& trial : step.search.at("trials")) trials_[trial.at("trial").get<std::size_t>()] = trial;
  }
  if (step.phase == kTraining) curve_.add(step, seconds);
  next_.report(step);
}

void RunRecorder::warn(const std::string& message) {
  if (events_.size() < kMostEvents) events_.push_back({watch_.seconds(), message});
  next_.warn(message);
}

double RunRecorder::seconds_left() const {
  if (!last_step_) return -1;
  return report::seconds_left(*last_step_, phases_.back().first_done, watch_.seconds() - phases_.back().begin);
}

double RunRecorder::training_began() const {
  double begin = 0;
  for (const Phase& phase : phases_) {
    if (phase.name == kTraining) begin = phase.begin;
  }
  return begin;
}

Json RunRecorder::run(const std::string& command, const std::string& arguments, Json result) const {
  const double seconds = watch_.seconds();
  const bool is_running = result.is_null();
  if (is_running) result = Json::object();
  Json& facts = result.contains("facts") ? result["facts"] : result;
  Json made = facts.value("report", Json::object());
  facts.erase("report");

  Json phases = Json::array();
  for (std::size_t i = 0; i < phases_.size(); ++i) {
    const double end = i + 1 < phases_.size() ? phases_[i + 1].begin : seconds;
    phases.push_back({{"phase", phases_[i].name}, {"begin", phases_[i].begin}, {"end", end}});
  }
  Json events = Json::array();
  for (const Event& event : events_) events.push_back({{"seconds", event.seconds}, {"message", event.message}});
  Curve curve = curve_;
  if (made.contains("curve")) {
    curve.continue_with(Curve::from_json(made["curve"], training_began()));
    made.erase("curve");
  }
  Json run = {{"command", command},
              {"arguments", arguments},
              {"began", began_},
              {"seconds", seconds},
              {"state", is_running                          ? "running"
                        : facts.value("was_stopped", false) ? "interrupted"
                                                            : "done"},
              {"phases", std::move(phases)},
              {"curves", Json::array()},
              {"events", std::move(events)}};
  if (curve.has_metrics()) run["curves"].push_back(curve.to_json());
  if (!is_running) run["result"] = facts;
  if (is_running && !trials_.empty()) {
    if (!score_.empty()) run["result"]["score"] = score_;
    for (const auto& [number, trial] : trials_) run["result"]["trials"].push_back(trial);
  }
  run.update(made);
  return run;
}

}  // namespace podere::report
