#include "podere/comm/work_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "podere/base/clock.h"
#include "podere/comm/messages.h"

namespace podere::comm {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1};  // for messages
constexpr double kWatchSeconds = 0.1;
constexpr std::size_t kPieceBytes = std::size_t{1} << 30;  // of a text, as a message has fewer than 2^31

/// What a message is about, before its text.
struct Head {
  enum class Kind : std::uint64_t { kTask, kResult, kStop, kFailure, kEnd };
  Kind kind = Kind::kTask;
  std::uint64_t n_bytes = 0;
};

std::span<std::byte> bytes_of_head(Head& head) { return std::as_writable_bytes(std::span(&head, 1)); }

/// A message on its way. Stays where it is.
class Letter {
 public:
  Letter(const Messages& messages, Head::Kind kind, std::string text, int to)
      : head_{kind, text.size()}, text_(std::move(text)) {
    transfers_.push_back(messages.start_send(bytes_of_head(head_), to));
    for (std::size_t begin = 0; begin < text_.size(); begin += kPieceBytes) {
      const auto piece = std::span(text_).subspan(begin, std::min(kPieceBytes, text_.size() - begin));
      transfers_.push_back(messages.start_send(std::as_bytes(piece), to));
    }
  }
  Letter(const Letter&) = delete;
  Letter& operator=(const Letter&) = delete;

  bool is_there() {
    return std::ranges::all_of(transfers_, [](Transfer& transfer) { return transfer.is_over(); });
  }

 private:
  Head head_;
  std::string text_;
  std::vector<Transfer> transfers_;  // their destructors wait
};

/// Sends, and waits until the message is there: of rank 0, whose messages others always receive.
void send(const Messages& messages, Head::Kind kind, std::string text, int to) {
  const Letter letter(messages, kind, std::move(text), to);
}

std::string receive_text(const Messages& messages, const Head& head, int from) {
  std::string text(head.n_bytes, '\0');
  for (std::size_t begin = 0; begin < text.size(); begin += kPieceBytes) {
    const auto piece = std::span(text).subspan(begin, std::min(kPieceBytes, text.size() - begin));
    messages.start_receive(std::as_writable_bytes(piece), from).wait();
  }
  return text;
}

/// The head of the next message of a rank, looked for without waiting.
class Inbox {
 public:
  Inbox(const Messages& messages, int from) : messages_(messages), from_(from) { listen(); }

  std::optional<std::pair<Head::Kind, std::string>> take() {
    if (!transfer_.is_over()) return std::nullopt;
    const Head head = *head_;
    std::string text = receive_text(messages_, head, from_);
    if (head.kind != Head::Kind::kEnd) listen();
    return std::pair{head.kind, std::move(text)};
  }

 private:
  void listen() { transfer_ = messages_.start_receive(bytes_of_head(*head_), from_); }

  const Messages& messages_;
  int from_;
  std::unique_ptr<Head> head_ = std::make_unique<Head>();  // stays where it is
  Transfer transfer_;
};

/// The threads of this rank.
class PoolThreads {
 public:
  PoolThreads(int n_threads, const PooledWork& work) {
    for (int i = 0; i < n_threads; ++i) threads_.emplace_back([this, &work] { run(work); });
  }
  ~PoolThreads() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  PoolThreads(const PoolThreads&) = delete;
  PoolThreads& operator=(const PoolThreads&) = delete;

  void give(std::string task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }
  void stop() { is_stopping_ = true; }

  /// The results that have come since the last call, nullopt of tasks that threw. Waits for one, but not longer than
  /// `timeout`.
  std::deque<std::optional<std::string>> take(std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    has_result_.wait_for(lock, timeout, [&] { return !results_.empty(); });
    return std::exchange(results_, {});
  }
  /// Of the first task that threw; null: none did.
  std::exception_ptr exception() {
    const std::lock_guard lock(mutex_);
    return exception_;
  }

 private:
  void run(const PooledWork& work) {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !tasks_.empty() || is_ending_; });
      if (is_ending_) return;
      const std::string task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      std::optional<std::string> result;
      std::exception_ptr exception;
      try {
        result = work.work(task, is_stopping_);
      } catch (...) {
        exception = std::current_exception();
      }
      lock.lock();
      if (!exception_) exception_ = exception;
      results_.push_back(std::move(result));
      has_result_.notify_one();
    }
  }

  std::atomic<bool> is_stopping_ = false;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::condition_variable has_result_;
  std::deque<std::string> tasks_;
  std::deque<std::optional<std::string>> results_;
  bool is_ending_ = false;
  std::exception_ptr exception_;
  std::vector<std::thread> threads_;
};

/// What another rank than 0 does beside its tasks. It waits for no message of its own to be there: rank 0 may wait for
/// this rank to receive.
void follow(const Messages& messages, PoolThreads& own) {
  Inbox inbox(messages, 0);
  std::deque<std::unique_ptr<Letter>> sent;
  const auto send_to_root = [&](Head::Kind kind, std::string text) {
    sent.push_back(std::make_unique<Letter>(messages, kind, std::move(text), 0));
  };
  for (;;) {
    while (!sent.empty() && sent.front()->is_there()) sent.pop_front();
    for (std::optional<std::string>& result : own.take(kLookEvery)) {
      send_to_root(result ? Head::Kind::kResult : Head::Kind::kFailure, std::move(result).value_or(""));
    }
    while (auto message = inbox.take()) {
      auto& [kind, text] = *message;
      if (kind == Head::Kind::kTask) own.give(std::move(text));
      if (kind == Head::Kind::kStop) own.stop();
      if (kind == Head::Kind::kEnd) return send_to_root(Head::Kind::kEnd, "");
    }
  }
}

/// What rank 0 does beside its tasks.
class Leader {
 public:
  Leader(const Messages& messages, const std::vector<int>& n_threads, const PooledWork& work, PoolThreads& own)
      : messages_(messages), work_(work), own_(own), n_free_(n_threads) {
    for (std::size_t rank = 1; rank < n_free_.size(); ++rank) inboxes_.emplace_back(messages, static_cast<int>(rank));
  }

  /// Throws what a function of the work throws, after all others have ended.
  void lead() {
    Stopwatch since_watched;
    for (;;) {
      hand_out();
      if (n_at_work_ == 0) break;
      collect();
      if (since_watched.seconds() < kWatchSeconds) continue;
      since_watched.restart();
      if (!is_stopping_) call([&] { return work_.watch(); });
    }
    send_to_others(Head::Kind::kEnd);
    for (Inbox& inbox : inboxes_) {
      while (!inbox.take()) std::this_thread::sleep_for(kLookEvery);
    }
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  /// A function of the work; stops all if it throws or returns false.
  template <typename Function>
  void call(const Function& function) {
    try {
      if (!function()) stop();
    } catch (...) {
      exception_ = std::current_exception();
      stop();
    }
  }

  /// Where the most threads are free, so that few tasks are spread over many ranks.
  void hand_out() {
    while (!is_stopping_) {
      const auto rank = static_cast<std::size_t>(std::ranges::max_element(n_free_) - n_free_.begin());
      if (n_free_[rank] == 0) return;
      std::optional<std::string> task;
      call([&] {
        task = work_.next();
        return true;
      });
      if (!task) return;
      --n_free_[rank];
      ++n_at_work_;
      if (rank == 0) {
        own_.give(*std::move(task));
      } else {
        send(messages_, Head::Kind::kTask, *std::move(task), static_cast<int>(rank));
      }
    }
  }

  void collect() {
    for (std::optional<std::string>& result : own_.take(kLookEvery)) take(std::move(result), 0);
    for (std::size_t i = 0; i < inboxes_.size(); ++i) {
      while (auto message = inboxes_[i].take()) {
        auto& [kind, text] = *message;
        take(kind == Head::Kind::kFailure ? std::nullopt : std::optional(std::move(text)), i + 1);
      }
    }
  }

  void take(std::optional<std::string> result, std::size_t rank) {
    ++n_free_[rank];
    --n_at_work_;
    if (!result) return stop();
    if (exception_) return;
    call([&] {
      work_.take(*std::move(result));
      return true;
    });
  }

  void stop() {
    if (std::exchange(is_stopping_, true)) return;
    own_.stop();
    send_to_others(Head::Kind::kStop);
  }

  void send_to_others(Head::Kind kind) {
    for (std::size_t i = 0; i < inboxes_.size(); ++i) send(messages_, kind, "", static_cast<int>(i + 1));
  }

  const Messages& messages_;
  const PooledWork& work_;
  PoolThreads& own_;
  std::vector<int> n_free_;     // [ranks]
  std::vector<Inbox> inboxes_;  // [ranks - 1]
  int n_at_work_ = 0;
  bool is_stopping_ = false;
  std::exception_ptr exception_;
};

}  // namespace

void work_pool(const Communicator& comm, int n_threads, const PooledWork& work) {
  const std::vector<int> n_threads_of = comm.all_gather(n_threads);
  const Messages messages(comm);
  std::exception_ptr exception;
  {
    PoolThreads own(n_threads, work);
    try {
      comm.is_root() ? Leader(messages, n_threads_of, work, own).lead() : follow(messages, own);
    } catch (...) {
      exception = std::current_exception();
    }
    if (own.exception()) exception = own.exception();
  }
  comm.agree([&] {
    if (exception) std::rethrow_exception(exception);
  });
}

}  // namespace podere::comm
