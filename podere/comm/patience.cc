#include "podere/comm/patience.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "podere/comm/mpi_handle.h"

namespace podere::comm {

namespace {

using std::chrono::microseconds;

constexpr double kLookSeconds = 150e-6;       // falling asleep and being woken takes half of that
constexpr std::size_t kBytesInOneGo = 4096;   // more take several looks of both sides
constexpr double kLookSecondsPerByte = 2e-9;  // a few times what memory takes
constexpr int kLooks = 10;                    // that bring the message through MPI, and the answer out

constexpr double kPreemptedSeconds = 0.01;  // a few slices of the scheduler

constexpr microseconds kSleep(2000);  // a wake-up ends it
constexpr microseconds kBriefSleep(
    1);  // where not all ranks can wake each other, or a message needs too many: the system makes 60 of it
constexpr microseconds kLaterSleep(100);
constexpr int kBriefSleeps = 1000;  // a tenth of a second
constexpr std::size_t kMostWokenBytes = 64 << 10;

// MPI sends its answers only when it is called. So a rank wakes others before it sleeps, but only so often after others
// have worked: two that wait for a third would wake each other for ever.
constexpr std::size_t kWakeUps = 8;
constexpr std::size_t kBytesPerWakeUp = 8192;

/// How long to look for others to come, by what this process has seen: where that is in vain the time becomes short;
/// one look in so many stays long, and finds out when it is worth while again.
class Eagerness {
 public:
  double next_share() {
    is_trial_ = ++n_looks_ % kLooksPerTrial == 0;
    return is_trial_ ? 1 : share_;
  }
  void note(bool was_worth_while) {
    share_ = !was_worth_while ? std::max(share_ / 2, kLeastShare)
             : is_trial_      ? std::max(share_, 0.25)
                              : std::min(share_ * 1.2, 1.0);
  }

 private:
  static constexpr double kLeastShare = 0.02;
  static constexpr unsigned kLooksPerTrial = 64;
  double share_ = 1;
  unsigned n_looks_ = 0;
  bool is_trial_ = false;
};

Eagerness eagerness;

/// Whether the system has lately taken the processor from this thread for another process. Then the pieces of a long
/// message come late whatever is done, and looking for them only uses up what this thread may have of the processor.
bool was_preempted_lately() {
  static thread_local long n_before = 0;
  static thread_local Stopwatch since_preempted;
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  if (usage.ru_nivcsw != n_before) {
    n_before = usage.ru_nivcsw;
    since_preempted.restart();
  }
  return n_before > 0 && since_preempted.seconds() < kPreemptedSeconds;
}

}  // namespace

Patience::~Patience() {
  if (has_waited_ && look_seconds_ > 0 && n_sleeps_ == 0) eagerness.note(true);
}

Patience::Patience(std::size_t n_bytes)
    : n_bytes_(n_bytes), share_(eagerness.next_share()), wake_ups_from_work_(n_wake_ups_from_work()) {
  expect_wake_ups();
  look_for(kLookSeconds * share_ + seconds_in_pieces());
}

double Patience::seconds_in_pieces() const {
  if (n_bytes_ <= kBytesInOneGo) return 0;
  return kLookSecondsPerByte * static_cast<double>(n_bytes_) * (was_preempted_lately() ? share_ : 1);
}

void Patience::look_for(double seconds) {
  look_seconds_ = seconds;
  since_look_.restart();
}

void Patience::wait() {
  has_waited_ = true;
  if (look_seconds_ > 0) {
    const bool is_over = since_look_.seconds() >= look_seconds_;
    if (!is_over && !is_processor_needed()) return;
    if (is_over && n_sleeps_ == 0) eagerness.note(false);
    seconds_left_ = std::max(0.0, seconds_left_ - since_look_.seconds());
    look_seconds_ = 0;
  }
  if (looks_left_-- > 0) return;
  if (wake_up_.is_armed()) {
    sleep();
  } else {
    wake_up_.arm();
  }
}

void Patience::expect_wake_ups() {
  wake_ups_left_ = kWakeUps + n_bytes_ / kBytesPerWakeUp;
  seconds_left_ = seconds_in_pieces();
}

void Patience::sleep() {
  if (wake_ups_left_ > 0) {
    --wake_ups_left_;
    wake_others_idle();
  }
  ++n_sleeps_;
  const microseconds brief = n_sleeps_ > kBriefSleeps ? kLaterSleep : kBriefSleep;
  const bool was_woken = wake_up_.sleep(can_all_be_woken() && n_bytes_ <= kMostWokenBytes ? kSleep : brief);
  looks_left_ = kLooks;
  if (!was_woken) {
    wake_ups_left_ = 0;
    return;
  }
  if (const std::uint32_t count = n_wake_ups_from_work(); count != wake_ups_from_work_) {
    wake_ups_from_work_ = count;
    expect_wake_ups();
  }
  look_for(seconds_left_);
}

void await(std::span<MPI_Request> requests, std::size_t n_bytes) {
  if (requests.empty()) return;  // a group of one, maybe without MPI
  wake_others();
  int are_over = 0;
  for (Patience patience(n_bytes);; patience.wait()) {
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &are_over, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (are_over != 0) break;
  }
  wake_others();
}

}  // namespace podere::comm
