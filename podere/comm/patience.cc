#include "podere/comm/patience.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "podere/comm/mpi_handle.h"

namespace podere::comm {

namespace {

constexpr double kLookSeconds = 150e-6;       // falling asleep and being woken takes half of that
constexpr double kLookSecondsPerByte = 2e-9;  // a few times what memory takes
constexpr int kBriefSleeps = 1000;            // of about 60 microseconds: the least that the system sleeps
constexpr int kMostSkipped = 64;

/// Waits of this thread that are to sleep at once.
struct SkippedLooks {
  int left = 0;
  int next = 1;  ///< so many after the next look in vain
};
thread_local SkippedLooks skipped;

}  // namespace

Patience::Patience(std::size_t n_bytes)
    : look_seconds_(skipped.left > 0 ? 0 : kLookSeconds + kLookSecondsPerByte * static_cast<double>(n_bytes)) {}

Patience::~Patience() {
  if (!has_waited_) return;
  if (look_seconds_ == 0) {
    --skipped.left;
  } else if (n_sleeps_ == 0) {
    skipped.next = 1;
  } else {
    skipped.left = skipped.next;
    skipped.next = std::min(2 * skipped.next, kMostSkipped);
  }
}

void Patience::wait() {
  has_waited_ = true;
  if (n_sleeps_ == 0 && watch_.seconds() < look_seconds_) return;
  std::this_thread::sleep_for(std::chrono::microseconds(++n_sleeps_ > kBriefSleeps ? 100 : 1));
}

void await(std::span<MPI_Request> requests, std::size_t n_bytes) {
  if (requests.empty()) return;  // a group of one, maybe without MPI
  for (Patience patience(n_bytes);; patience.wait()) {
    int are_over = 0;
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &are_over, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (are_over != 0) return;
  }
}

}  // namespace podere::comm
