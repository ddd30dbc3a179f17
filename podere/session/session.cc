#include "podere/session/session.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "podere/base/error.h"
#include "podere/base/interrupt.h"
#include "podere/base/temporary_folder.h"
#include "podere/executor/executor.h"
#include "podere/executor/task_metrics.h"
#include "podere/session/attempts.h"
#include "podere/session/inputs.h"

namespace podere::session {
namespace {

/// What a job writes itself begins anew with it.
void empty_outputs(const jobs::Job& job) {
  const std::string output = job.path(jobs::PathUse::kOutput);
  if (std::filesystem::is_regular_file(output)) std::filesystem::resize_file(output, 0);
}

/// The checkpoint from which the job will resume; empty: none.
std::string checkpoint_there(const jobs::Job& job) {
  const std::string path = job.path(jobs::PathUse::kCheckpoint);
  std::error_code is_none;
  return std::filesystem::exists(path, is_none) ? path : "";
}

}  // namespace

/// Passes reports on, and keeps the losses to report.
class Session::Watch : public Progress {
 public:
  Watch(Progress& next, std::string checkpoint) : next_(next), checkpoint_(std::move(checkpoint)) {}

  void report(const ProgressStep& step) override {
    if (lost_ && (counts(step) || reached_.empty())) report_loss(step);
    if (counts(step)) {
      if (std::exchange(counted_, step.phase) != step.phase) {
        reached_.clear();
        began_.reset();
      }
      reached_.try_emplace(step.done, watch_.seconds());
      if (!began_) began_ = step.done;
      if (!std::exchange(has_trained_, true) && step.done > 0 && !checkpoint_.empty()) {
        next_.warn(fmt::format("resuming at {} from checkpoint {}", place_text(step), checkpoint_));
      }
    }
    step_ = step;
    next_.report(step);
  }
  void warn(const std::string& message) override { next_.warn(message); }
  bool stop_requested() override { return next_.stop_requested(); }

  /// With how many executors to continue after a group of `n_executors`. Throws Error if the job should be given up.
  int fewer_after(const GroupLost& loss, int n_executors, int least) {
    return attempts_.after({n_executors, loss.how, step_, began_}, least);
  }
  /// Takes note of the loss; `n_left` continue.
  void lose(const GroupLost& loss, int n_left) {
    // What the earlier one cost is part of what this one does.
    if (lost_) keep_loss("others were lost before it was made up for", 0);
    lost_ = Loss{loss.who, loss.how, step_, n_left, watch_.seconds()};
    step_ = {};
    began_.reset();
  }

  Json losses;

 private:
  struct Loss {
    std::string who;
    std::string how;
    ProgressStep step;
    int n_left;
    double seconds;
  };

  /// The job is at `step` again. What was first reached then is reached again now.
  void report_loss(const ProgressStep& step) {
    const auto reached = reached_.upper_bound(step.done);
    const double seconds = watch_.seconds() - (reached == reached_.begin() ? 0 : std::prev(reached)->second);
    const bool from_checkpoint = !reached_.empty() && step.done > reached_.begin()->first;
    keep_loss(fmt::format("continuing with {} from {}; {:.1f} s lost", executors_text(lost_->n_left),
                          from_checkpoint ? place_text(step) : "the beginning", seconds),
              seconds);
  }

  void keep_loss(const std::string& words, double seconds) {
    next_.warn(fmt::format("lost {} ({}) at {}; {}", lost_->who, lost_->how, place_text(lost_->step), words));
    losses.push_back({{"executor", lost_->who},
                      {"how", lost_->how},
                      {"at", place_text(lost_->step)},
                      {"phase", lost_->step.phase},
                      {"executors_left", lost_->n_left},
                      {"lost_at_seconds", lost_->seconds},
                      {"back_at_seconds", watch_.seconds()},
                      {"seconds_lost", seconds}});
    lost_.reset();
  }

  Progress& next_;
  const std::string checkpoint_;  // that was there when the job began
  bool has_trained_ = false;
  Stopwatch watch_;
  ProgressStep step_;                      // the last one of this group
  std::optional<std::size_t> began_;       // the trees, or steps, that this group began with
  std::string counted_;                    // the phase whose trees these are
  std::map<std::size_t, double> reached_;  // trees, and the seconds when there were first so many
  std::optional<Loss> lost_;               // not reported yet
  Attempts attempts_;
};

/// The group that starts would have to move as soon as it is up.
struct Session::ToMove {};

/// Ends the start of such a group.
class Session::Starting : public Progress {
 public:
  Starting(Progress& next, const Session& session) : next_(next), session_(session) {}
  bool stop_requested() override {
    if (session_.wanted_now().moves != session_.wanted_.moves) throw ToMove();
    return next_.stop_requested();
  }

 private:
  Progress& next_;
  const Session& session_;
};

Session::Session(Options options, Progress& progress)
    : options_(std::move(options)), wanted_{options_.n_executors, options_.least} {
  if (options_.launcher->makes_wait()) {
    options_.launcher->await_room(progress);
    options_.n_executors = as_there_is_room(options_.n_executors);
  }
  for (Attempts attempts; !driver_;) {
    try {
      start_group(progress);
    } catch (const GroupLost& loss) {
      // The launcher knows why: a host that is down, a key that is refused. What never started is for the user to fix.
      if (loss.is_explained) throw_error("{} {}", loss.who, loss.how);
      continue_with(attempts.after({.n_executors = options_.n_executors, .how = loss.how}, options_.least));
      progress.warn(fmt::format("lost {} ({}) at the start; starting {}", loss.who, loss.how,
                                executors_text(options_.n_executors)));
    } catch (const ToMove&) {
      resize(progress);
    }
  }
}

Session::SharedMemory::~SharedMemory() { TemporaryFolder::remove_left_behind(executor::kSharedMemory); }

void Session::start_group(Progress& progress) {
  Driver::Options driver = options_.driver;
  options_.launcher->await_room(progress);
  driver.n_executors = options_.n_executors;
  Starting starting(progress, *this);
  driver_ = std::make_unique<Driver>(command(), std::move(driver), starting);
  n_cores_ = driver_->n_cores();
}

CommandLine Session::command() {
  try {
    return options_.launcher->command(options_.n_executors);
  } catch (const launch::TooFew& few) {
    throw GroupLost(few.who, few.how);
  }
}

void Session::continue_with(int n_executors) {
  driver_.reset();
  options_.n_executors = as_there_is_room(n_executors);
}

int Session::as_there_is_room(int n_executors) const {
  const auto room = options_.launcher->room();
  return room ? std::max(options_.least, std::min(n_executors, *room)) : n_executors;
}

Wanted Session::wanted_now() const {
  if (options_.wanted) return options_.wanted();
  return options_.launcher->wanted().value_or(wanted_);
}

/// Reports a phase of its own while kept tables are made again, whatever phases that takes.
class Session::Restoring : public Progress {
 public:
  Restoring(Progress& next, std::size_t n_steps) : next_(next), n_steps_(n_steps) { report_step(); }
  void step_is_done() {
    ++n_done_;
    report_step();
  }
  void warn(const std::string& message) override { next_.warn(message); }
  bool stop_requested() override { return next_.stop_requested(); }

 private:
  void report_step() { next_.report({"restore", n_done_, n_steps_, {}}); }
  Progress& next_;
  const std::size_t n_steps_;
  std::size_t n_done_ = 0;
};

void Session::restore_tables(Progress& progress) {
  const std::vector<TableLog::Step> steps = log_.steps();
  if (steps.empty()) return;
  Restoring restoring(progress, steps.size());
  for (const TableLog::Step& step : steps) {
    // Not those that a step before could not be done for.
    const bool is_possible = std::ranges::any_of(log_.steps(), [&](const auto& s) { return s.number == step.number; });
    try {
      if (is_possible) {
        jobs::Job job = step.job;
        if (std::as_const(job).path(jobs::PathUse::kCache).empty()) {
          step.inputs.check_unchanged();
        } else if (!step.inputs.are_unchanged()) {
          job.use_cache_only();
        }
        driver_->run(job, restoring);
      }
    } catch (const InputError& error) {
      log_.lose(step.number, error.what());
      progress.warn(error.what());
    }
    restoring.step_is_done();
  }
}

void Session::replace_group(Progress& progress, Progress& restoring) {
  start_group(progress);
  try {
    restore_tables(restoring);
  } catch (...) {
    driver_.reset();
    throw;
  }
}

jobs::Job Session::with_cache(jobs::Job job) {
  std::string* const cache = job.path(jobs::PathUse::kCache);
  const auto sources = job.sources();
  const bool is_made = !sources.empty() && source::is_made_in_memory(*sources[0]);
  if (options_.cache.empty() || cache == nullptr || is_made) return job;
  *cache = fmt::format("{}/{}", options_.cache, ++n_cached_);
  return job;
}

void Session::sweep_cache() const {
  std::set<std::filesystem::path> needed;
  for (const TableLog::Step& step : log_.steps()) needed.insert(step.job.path(jobs::PathUse::kCache));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(options_.cache, error)) {
    std::error_code ignored;
    if (!needed.contains(entry.path())) std::filesystem::remove_all(entry.path(), ignored);
  }
}

bool Session::resize(Progress& progress) {
  const Wanted wanted = wanted_now();
  if (wanted == wanted_) return false;
  const bool is_to_move = wanted.moves != wanted_.moves;
  wanted_ = wanted;
  options_.least = wanted.least;
  const int n_executors = as_there_is_room(wanted.n_executors);
  if (n_executors == options_.n_executors && !is_to_move) return false;
  if (driver_) driver_->end();
  driver_.reset();
  progress.warn(
      n_executors == options_.n_executors
          ? fmt::format("continuing with {} elsewhere", executors_text(n_executors))
          : fmt::format("continuing with {} instead of {}", executors_text(n_executors), options_.n_executors));
  options_.n_executors = n_executors;
  return true;
}

Json Session::run(const jobs::Job& ordered, Progress& progress) {
  log_.check_usable(ordered);
  const jobs::Job job = with_cache(ordered);
  const Inputs inputs(job);
  const Stopwatch elapsed;
  Watch watch(progress, checkpoint_there(job));
  watch.losses = Json::array();
  int n_before = options_.n_executors;
  ControlRequests requests;
  requests.pause = [&] { return wanted_now() != wanted_; };
  if (options_.notice) requests.checkpoint = options_.notice;
  while (true) {
    try {
      if (resize(watch)) n_before = options_.n_executors;
      if (!driver_) {
        replace_group(watch, progress);
        log_.check_usable(job);
      }
      Json result = driver_->run(job, watch, requests);
      if (result.value("paused", false)) continue;
      log_.note(job, inputs, result);
      if (!options_.cache.empty()) sweep_cache();
      result["metrics"] =
          executor::job_metrics(job.kind(), result.value("tasks", Json::array()), watch.losses, elapsed.seconds());
      result.erase("tasks");
      result["losses"] = std::move(watch.losses);
      return result;
    } catch (const GroupLost& loss) {
      driver_.reset();
      try {
        continue_with(watch.fewer_after(loss, options_.n_executors, options_.least));
      } catch (const Error&) {
        continue_with(n_before);  // other jobs may need less
        throw;
      }
      watch.lose(loss, options_.n_executors);
      inputs.check_unchanged();
      empty_outputs(job);
    } catch (const ToMove&) {
      // resize() chooses anew.
    } catch (const Interrupted&) {
      driver_.reset();  // with the job that it was in the middle of
      throw;
    }
  }
}

void Session::idle(Progress& progress) {
  if (!driver_) return;
  try {
    driver_->idle(0);
  } catch (const GroupLost& loss) {
    continue_with(std::max(options_.least, options_.n_executors - 1));
    progress.warn(fmt::format("lost {} ({}) between jobs; continuing with {}", loss.who, loss.how,
                              executors_text(options_.n_executors)));
  }
  resize(progress);
  const auto has_to_wait = [&] {
    return options_.launcher->makes_wait() && options_.launcher->room().value_or(options_.least) < options_.least;
  };
  while (!driver_ && !has_to_wait()) {
    try {
      replace_group(progress, progress);
    } catch (const ToMove&) {
      resize(progress);
    } catch (const Error& error) {
      progress.warn(error.what());
      return;
    }
  }
}

void Session::end() {
  if (driver_) driver_->end();
}

}  // namespace podere::session
