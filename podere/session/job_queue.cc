#include "podere/session/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "podere/base/error.h"

namespace podere::session {
namespace {

constexpr std::size_t kKeptRecords = 1000;  // of jobs that have ended
constexpr std::size_t kKeptLines = 1000;    // of a job's log
constexpr std::int64_t kKeptTasks = 16;     // last jobs of which each executor's figures are kept
constexpr std::array<const char*, 5> kStates = {"waiting", "running", "done", "failed", "cancelled"};

}  // namespace

std::int64_t JobQueue::add(const Orderer& by, Json job, report::RunTitle title) {
  const std::lock_guard lock(mutex_);
  Record& record = records_[++last_number_];
  record.by = by;
  record.kind =
      job.is_object() && job.contains("kind") && job["kind"].is_string() ? job["kind"].get<std::string>() : "";
  title.command = record.kind;
  if (title.name.empty()) title.name = record.kind;
  record.name = title.name;
  waiting_.push_back({last_number_, by, std::move(job), std::move(title)});
  changed_.notify_all();
  return last_number_;
}

std::size_t JobQueue::n_ahead_of(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(records_.begin(), records_.lower_bound(number), [](const auto& record) {
    return record.second.state == State::kWaiting || record.second.state == State::kRunning;
  }));
}

std::optional<JobQueue::Ordered> JobQueue::next(int timeout_ms) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] { return !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Ordered order = std::move(waiting_.front());
  waiting_.pop_front();
  Record& record = records_.at(order.number);
  record.state = State::kRunning;
  record.since_start.restart();
  return order;
}

bool JobQueue::cancel(Record& record) {
  if (record.state == State::kRunning) record.is_cancelled = true;
  if (record.state != State::kWaiting) return false;
  end(record, State::kCancelled);
  return true;
}

void JobQueue::end(Record& record, State state) {
  record.state = state;
  ++n_ended_;
}

void JobQueue::forget_cancelled() {
  std::erase_if(waiting_, [&](const Ordered& order) { return records_.at(order.number).state == State::kCancelled; });
  forget_oldest();
}

void JobQueue::forget_oldest() {
  for (auto record = records_.begin(); n_ended_ > kKeptRecords;) {
    const bool has_ended = record->second.state > State::kRunning;
    record = has_ended ? records_.erase(record) : std::next(record);
    if (has_ended) --n_ended_;
  }
}

std::vector<Orderer> JobQueue::cancel(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(number);
  if (found == records_.end()) throw_input_error("there is no job {} in this session", number);
  if (!cancel(found->second)) return {};
  const Orderer by = found->second.by;
  forget_cancelled();
  return {by};
}

std::vector<Orderer> JobQueue::cancel_of(std::int64_t client, const std::optional<Json>& id) {
  const std::lock_guard lock(mutex_);
  std::vector<Orderer> dropped;
  for (auto& [number, record] : records_) {
    if (record.by.client == client && (!id || record.by.id == *id) && cancel(record)) dropped.push_back(record.by);
  }
  if (!dropped.empty()) forget_cancelled();
  return dropped;
}

bool JobQueue::is_cancelled(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  return records_.at(number).is_cancelled;
}

void JobQueue::note_step(std::int64_t number, const ProgressStep& step) {
  const std::lock_guard lock(mutex_);
  ProgressStep& kept = records_.at(number).step;
  kept = step;
  kept.search.clear();  // which it does not describe
}

void JobQueue::note_line(std::int64_t number, const std::string& line) {
  const std::lock_guard lock(mutex_);
  Record& record = records_.at(number);
  if (record.log.size() < kKeptLines)
    record.log.push_back(fmt::format("{:.1f} s: {}", record.since_start.seconds(), line));
}

const char* JobQueue::word_of(State state) { return kStates[static_cast<std::size_t>(state)]; }

void JobQueue::finish(std::int64_t number, State state, const std::string& message, Json metrics) {
  const std::lock_guard lock(mutex_);
  Record& record = records_.at(number);
  record.message = message;
  record.metrics = std::move(metrics);
  record.seconds = record.since_start.seconds();
  end(record, state);
  forget_oldest();
  const auto older = records_.find(number - kKeptTasks);
  if (older != records_.end() && older->second.metrics.is_object()) older->second.metrics.erase("tasks");
}

Json JobQueue::describe() const {
  const std::lock_guard lock(mutex_);
  Json jobs = Json::array();
  for (const auto& [number, record] : records_) jobs.push_back(describe(number, record));
  return jobs;
}

Json JobQueue::describe(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(number);
  if (found == records_.end()) throw_input_error("there is no job {} in this session", number);
  Json job = describe(number, found->second);
  job["log"] = found->second.log;
  job["metrics"] = found->second.metrics;
  return job;
}

Json JobQueue::describe(std::int64_t number, const Record& record) const {
  const double seconds = record.state <= State::kRunning ? record.since_start.seconds() : record.seconds;
  return {{"job", number},
          {"kind", record.kind},
          {"name", record.name},
          {"state", word_of(record.state)},
          {"seconds", seconds},
          {"progress",
           {{"phase", record.step.phase},
            {"done", record.step.done},
            {"total", record.step.total},
            {"unit", record.step.unit.empty() && record.step.phase == "train" ? "tree" : record.step.unit}}},
          {"message", record.message}};
}

}  // namespace podere::session
