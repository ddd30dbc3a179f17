#include "podere/executor/executor.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/memory.h"
#include "podere/base/temporary_folder.h"
#include "podere/executor/fault.h"
#include "podere/executor/task_metrics.h"
#include "podere/jobs/event.h"
#include "podere/jobs/event_stream.h"
#include "podere/jobs/job_context.h"

namespace podere::executor {
namespace {

using comm::Communicator;

constexpr auto kAgreementTime = std::chrono::seconds(2);
constexpr double kReportInterval = 0.05;  // seconds

/// The outcome of a job on this rank.
struct Outcome {
  Json result;
  jobs::FailureKind failure = jobs::FailureKind::kNone;
  std::string message;
};

/// What the exception says that is being handled.
Outcome failure_in_hand() {
  try {
    throw;
  } catch (const InputError& error) {
    return {.result = {}, .failure = jobs::FailureKind::kInput, .message = error.what()};
  } catch (const std::bad_alloc&) {
    return {.result = {}, .failure = jobs::FailureKind::kInternal, .message = "there is not enough memory"};
  } catch (const std::exception& error) {
    return {.result = {}, .failure = jobs::FailureKind::kInternal, .message = error.what()};
  }
}

/// Says why and leaves without finalizing MPI: mpirun and srun then end the group.
[[noreturn]] void leave_group(jobs::EventWriter& events, const Json& id, int rank, const Outcome& outcome) {
  events.write_failure(id, outcome.failure, rank, outcome.message);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // for the line to pass mpirun
  std::_Exit(outcome.failure == jobs::FailureKind::kInput ? 2 : 1);
}

std::string fault_asked_for() {
  const char* fault = std::getenv("PODERE_FAULT");
  return fault == nullptr ? "" : fault;
}

/// Where the machine's energy counters are.
std::string powercap_folder() {
  const char* folder = std::getenv("PODERE_POWERCAP");
  return folder == nullptr ? "/sys/class/powercap" : folder;
}

/// What this rank does, for another thread: the phase of a job; empty between jobs.
class PhaseNow {
 public:
  void set(const std::string& phase) {
    const std::lock_guard lock(mutex_);
    phase_ = phase;
  }
  std::string get() const {
    const std::lock_guard lock(mutex_);
    return phase_;
  }

 private:
  mutable std::mutex mutex_;
  std::string phase_;
};

/// Sends rank 0's reports to the driver, not more than it can show, and asks it whether to stop.
class ExecutorProgress : public Progress {
 public:
  ExecutorProgress(const Json& id, int rank, jobs::EventWriter& events, jobs::OrderReader* orders, TaskMeter& meter,
                   PhaseNow& phase_now)
      : id_(id), rank_(rank), events_(events), orders_(orders), meter_(meter), phase_now_(phase_now) {}
  ~ExecutorProgress() override { phase_now_.set(""); }

  void report(const ProgressStep& step) override {
    meter_.enter(step.phase);
    fail_if_asked(fault_, step.phase, rank_, step.done);
    const bool is_new_phase = std::exchange(phase_, step.phase) != step.phase;
    if (is_new_phase) phase_now_.set(phase_);
    const bool is_first_or_last = is_new_phase || step.done == step.total;
    const bool may_wait = !is_first_or_last && step.search.empty();
    if (rank_ != 0 || (may_wait && since_report_.seconds() < kReportInterval)) return;
    since_report_.restart();
    Json event = jobs::progress_event(step);
    event["id"] = id_;
    events_.write(event);
  }
  void count_rows(std::uint64_t n_read, std::uint64_t n_written) override { meter_.count_rows(n_read, n_written); }
  void warn(const std::string& message) override {
    events_.write({{"event", "warning"}, {"id", id_}, {"message", message}});
  }
  /// A pause ends training too, once what there is has been kept.
  bool stop_requested() override {
    return orders_ != nullptr && (orders_->is_cancelled() || (orders_->is_paused() && has_kept_));
  }
  bool checkpoint_requested() override {
    const bool is_requested = orders_ != nullptr && orders_->take_checkpoint_order();
    has_kept_ = has_kept_ || is_requested;
    return is_requested;
  }

 private:
  const Json& id_;
  const int rank_;
  jobs::EventWriter& events_;
  jobs::OrderReader* orders_;  // of rank 0
  TaskMeter& meter_;
  PhaseNow& phase_now_;
  bool has_kept_ = false;
  const std::string fault_ = fault_asked_for();
  std::string phase_;
  Stopwatch since_report_;
};

/// Waits for so long. False once it is to stop.
bool let_pass(std::chrono::duration<double> duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

/// Gives the other ranks some time to fail as well. If they do not, they wait for this rank in a collective and will
/// wait for ever: then says why, and ends the group by leaving it.
std::jthread watchdog(jobs::EventWriter& events, const Json& id, int rank, const Outcome& outcome) {
  return std::jthread([&events, &id, rank, &outcome](const std::stop_token& stop) {
    if (let_pass(kAgreementTime, stop)) leave_group(events, id, rank, outcome);
  });
}

/// Says at intervals that this rank is alive, which process it is, and what it does.
std::jthread heartbeat(int rank, double interval_seconds, const PhaseNow& phase) {
  return std::jthread([=, &phase](const std::stop_token& stop) {
    do {
      const std::string line = fmt::format("{}{} {} {} {} {}\n", jobs::kAlive, rank, getpid(), jobs::host_name(),
                                           memory_bytes(), phase.get());
      if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;  // no reader
    } while (let_pass(std::chrono::duration<double>(interval_seconds), stop));
  });
}

Outcome attempt(const Json& json, const jobs::JobContext& context) {
  try {
    Json result = jobs::job_from_json(json).execute(context);
    const auto facts = result.find("facts");
    if (!context.files.empty()) (facts != result.end() ? *facts : result)["files"] = context.files;
    return {.result = std::move(result), .message = {}};
  } catch (...) {
    return failure_in_hand();
  }
}

/// Training that ended before it was done.
bool was_stopped(const Json& result) {
  const auto facts = result.find("facts");
  return facts != result.end() && facts->value("was_stopped", false);
}

/// Runs one job and lets rank 0 report: the result, or the failure of the lowest rank that failed.
/// `control` carries the agreement alone; the job has a group of its own, so that messages left behind by a job that
/// failed half way cannot reach the next.
void serve(const jobs::Order& order, const Communicator& control, int n_threads, jobs::KeptTables& tables,
           jobs::EventWriter& events, jobs::OrderReader* orders, PhaseNow& phase_now) {
  const Communicator group = control.split(0, control.rank());
  TaskMeter meter(group, powercap_folder());
  ExecutorProgress progress(order.id, control.rank(), events, orders, meter, phase_now);
  Json files = Json::array();
  Outcome outcome = attempt(order.job, {group, n_threads, progress, tables, files});
  meter.end();
  std::jthread until_agreed;
  if (outcome.failure != jobs::FailureKind::kNone) until_agreed = watchdog(events, order.id, control.rank(), outcome);
  const auto failures = control.all_gather(static_cast<std::int32_t>(outcome.failure));
  until_agreed = {};
  for (int rank = 0; rank < control.size(); ++rank) {
    const auto failure = static_cast<jobs::FailureKind>(failures[static_cast<std::size_t>(rank)]);
    if (failure == jobs::FailureKind::kNone) continue;
    const std::string message = control.broadcast_text(outcome.message, rank);
    if (control.is_root()) events.write_failure(order.id, failure, rank, message);
    return;
  }
  Json tasks = meter.gather(control);
  if (control.is_root()) {
    outcome.result["tasks"] = std::move(tasks);
    fail_if_asked(fault_asked_for(), "answer", 0, 0);
    if (orders->is_paused() && !orders->is_cancelled() && was_stopped(outcome.result))
      outcome.result = {{"paused", true}};
    events.write({{"event", "result"}, {"id", order.id}, {"result", std::move(outcome.result)}});
  }
}

void serve_until_end(const Communicator& control, int n_threads, jobs::EventWriter& events, jobs::OrderReader* orders,
                     PhaseNow& phase_now) {
  jobs::KeptTables tables;
  while (true) {
    std::optional<jobs::Order> next = control.is_root() ? orders->next() : std::nullopt;
    control.await_root();
    // An empty text is the end.
    const std::string text = control.broadcast_text(next ? to_text({{"id", next->id}, {"job", next->job}}) : "");
    if (text.empty()) return;
    const Json json = Json::parse(text);
    serve({json.at("id"), json.at("job")}, control, n_threads, tables, events, orders, phase_now);
  }
}

/// A folder for what executors share in memory, owned by this one: the next one removes it, should it be
/// killed. None where the user chose another place, or there is none.
std::unique_ptr<const TemporaryFolder> own_shared_memory() {
  constexpr const char* kPlace = "OMPI_MCA_btl_vader_backing_directory";
  if (std::getenv(kPlace) != nullptr || access(kSharedMemory, W_OK) != 0) return nullptr;
  auto folder = std::make_unique<const TemporaryFolder>(kSharedMemory);
  setenv(kPlace, folder->path().c_str(), 1);
  return folder;
}

}  // namespace

int run_executor(int n_threads, double heartbeat_seconds) {
  // mpirun or the driver may be killed without a chance to end this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);
  give_way_where_memory_runs_out();  // a lost executor is replaced, a lost driver is not
  jobs::EventWriter events(jobs::take_over_stdout());
  const std::unique_ptr<const TemporaryFolder> shared_memory = own_shared_memory();
  const comm::Environment environment;
  const Communicator control = Communicator::world().split(0, Communicator::world().rank());
  PhaseNow phase_now;
  std::jthread alive;
  if (heartbeat_seconds > 0) alive = heartbeat(control.rank(), heartbeat_seconds, phase_now);
  std::unique_ptr<jobs::OrderReader> orders;
  if (control.is_root()) {
    orders = std::make_unique<jobs::OrderReader>(STDIN_FILENO, events);
    events.write({{"event", "ready"},
                  {"protocol", jobs::kProtocolVersion},
                  {"executors", control.size()},
                  {"cores", n_threads},
                  {"version", PODERE_VERSION}});
  }
  try {
    serve_until_end(control, n_threads, events, orders.get(), phase_now);
  } catch (...) {
    // Not further up: the OrderReader's thread waits for the driver, and the other ranks may wait for this one.
    leave_group(events, nullptr, control.rank(), failure_in_hand());
  }
  return 0;
}

}  // namespace podere::executor
