#include "podere/comm/hand_out.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/comm/messages.h"

namespace podere::comm {
namespace {

constexpr double kReportSeconds = 0.1;
constexpr std::size_t kLongestRun = 16;

/// Tasks [begin, end).
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What a rank sends to rank 0, which answers all but the last with a run: an empty one is the end.
struct Report {
  std::uint64_t n_done = 0;
  std::uint64_t has_failed = 0;
  std::uint64_t wants_run = 0;
  std::uint64_t is_last = 0;
};
struct Answer {
  Run run;
  std::uint64_t is_end = 0;
};

template <typename T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// The tasks that no rank has yet. Thread-safe.
class Rest {
 public:
  Rest(std::size_t n_tasks, std::size_t n_threads_of_all) : end_(n_tasks), n_threads_(n_threads_of_all) {}

  /// Few where few are left, so that no rank is at work much longer than others. Empty if there are none.
  Run take() {
    const std::lock_guard lock(mutex_);
    const std::uint64_t n = std::clamp<std::uint64_t>((end_ - next_) / (4 * n_threads_), 1, kLongestRun);
    const Run run{next_, std::min(end_, next_ + n)};
    next_ = run.end;
    return run;
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    end_ = next_;
  }

 private:
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::uint64_t end_;
  const std::uint64_t n_threads_;
};

/// The threads of this rank, and the tasks that they have been given.
class Workers {
 public:
  /// `take_more`, where there is one, is called for more tasks. Else they are given.
  Workers(int n_threads, const HandedOut& tasks, std::function<Run()> take_more)
      : n_threads_(static_cast<std::size_t>(n_threads)), take_more_(std::move(take_more)), n_working_(n_threads_) {
    for (int thread = 0; thread < n_threads; ++thread) {
      threads_.emplace_back([this, thread, &tasks] { work(thread, tasks); });
    }
  }
  ~Workers() {
    give({});
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// An empty run is the last.
  void give(const Run& run) {
    const std::lock_guard lock(mutex_);
    add(run);
    changed_.notify_all();
  }

  /// Waits, but not long, until tasks run short or, once there are no more, until all are done.
  Report wait() {
    std::unique_lock lock(mutex_);
    const auto wants_run = [&] { return !take_more_ && !has_all_ && !exception_ && tasks_.size() < n_threads_; };
    changed_.wait_for(lock, std::chrono::duration<double>(kReportSeconds),
                      [&] { return n_working_ == 0 || wants_run(); });
    return {n_done_, exception_ ? 1U : 0U, wants_run() ? 1U : 0U, n_working_ == 0 ? 1U : 0U};
  }
  std::size_t n_done() {
    const std::lock_guard lock(mutex_);
    return n_done_;
  }
  /// Of the first task that threw; null if none did.
  std::exception_ptr exception() {
    const std::lock_guard lock(mutex_);
    return exception_;
  }

 private:
  void add(const Run& run) {
    for (std::uint64_t task = run.begin; task < run.end; ++task) tasks_.push_back(task);
    if (run.begin == run.end) has_all_ = true;
  }

  std::optional<std::size_t> take() {
    std::unique_lock lock(mutex_);
    if (take_more_ && tasks_.empty() && !has_all_) add(take_more_());
    changed_.wait(lock, [&] { return !tasks_.empty() || has_all_ || exception_; });
    if (tasks_.empty() || exception_) return std::nullopt;
    const std::size_t task = tasks_.front();
    tasks_.pop_front();
    if (tasks_.size() < n_threads_) changed_.notify_all();
    return task;
  }

  void work(int thread, const HandedOut& tasks) {
    try {
      while (const std::optional<std::size_t> task = take()) {
        tasks.work(*task, thread);
        const std::lock_guard lock(mutex_);
        ++n_done_;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    --n_working_;
    changed_.notify_all();
  }

  const std::size_t n_threads_;
  const std::function<Run()> take_more_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::size_t> tasks_;
  bool has_all_ = false;
  std::size_t n_done_ = 0;
  std::size_t n_working_;
  std::exception_ptr exception_;
  std::vector<std::thread> threads_;
};

/// What another rank does beside its tasks.
void ask(const Messages& messages, Workers& own) {
  for (;;) {
    Report report = own.wait();
    messages.start_send(bytes_of(report), 0).wait();
    if (report.is_last != 0) return;
    Answer answer;
    messages.start_receive(bytes_of(answer), 0).wait();
    if (answer.is_end != 0 || answer.run.begin < answer.run.end) own.give(answer.run);
  }
}

/// What rank 0 does beside its tasks: it answers the others, and has `watch` called.
void serve(const Messages& messages, std::size_t n_others, Rest& rest, Workers& own,
           const std::function<bool(std::size_t)>& watch) {
  std::vector<Report> reports(n_others);
  std::vector<Answer> answers(n_others);
  std::vector<Transfer> received(n_others);
  std::vector<Transfer> sent(n_others);
  const auto receive_from = [&](std::size_t other) {
    received[other] = messages.start_receive(bytes_of(reports[other]), static_cast<int>(other) + 1);
  };
  for (std::size_t other = 0; other < n_others; ++other) receive_from(other);

  Stopwatch since_watched;
  std::size_t next = 0;
  bool is_own_over = false;
  for (std::size_t n_open = n_others; n_open > 0 || !is_own_over;) {
    if (n_open > 0) {
      const std::size_t other = Messages::await_any(received, next);
      next = other + 1;
      const Report& report = reports[other];
      if (report.has_failed != 0) rest.drop();
      if (report.is_last != 0) {
        --n_open;
      } else {
        const Run run = report.wants_run != 0 ? rest.take() : Run();
        answers[other] = {run, report.wants_run != 0 && run.begin == run.end ? 1U : 0U};
        sent[other] = messages.start_send(bytes_of(answers[other]), static_cast<int>(other) + 1);
        receive_from(other);
      }
    } else {
      is_own_over = own.wait().is_last != 0;
    }
    if (own.exception()) rest.drop();
    if (since_watched.seconds() < kReportSeconds && !is_own_over) continue;
    since_watched.restart();
    std::size_t n_done = own.n_done();
    for (const Report& report : reports) n_done += report.n_done;
    if (!watch(n_done)) rest.drop();
  }
}

}  // namespace

std::size_t hand_out(const Communicator& comm, std::size_t n_tasks, int n_threads, const HandedOut& tasks) {
  const auto n_threads_of_all = comm.all_reduce(static_cast<std::uint64_t>(n_threads), Reduction::kSum);
  const Messages messages(comm);
  Rest rest(n_tasks, n_threads_of_all);  // counts on rank 0
  std::uint64_t n_done = 0;
  std::exception_ptr exception;
  {
    Workers own(n_threads, tasks, comm.is_root() ? [&] { return rest.take(); } : std::function<Run()>());
    if (comm.is_root()) {
      serve(messages, static_cast<std::size_t>(comm.size() - 1), rest, own, tasks.watch);
    } else {
      ask(messages, own);
    }
    n_done = own.n_done();
    exception = own.exception();
  }
  comm.agree([&] {
    if (exception) std::rethrow_exception(exception);
  });
  return comm.all_reduce(n_done, Reduction::kSum);
}

}  // namespace podere::comm
