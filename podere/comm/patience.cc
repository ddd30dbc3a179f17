#include "podere/comm/patience.h"

#include <algorithm>
#include <chrono>

#include "podere/comm/mpi_handle.h"

namespace podere::comm {

namespace {

using std::chrono::microseconds;

constexpr double kLookSeconds = 150e-6;       // falling asleep and being woken takes half of that
constexpr std::size_t kBytesInOneGo = 4096;   // more take several looks of both sides
constexpr double kLookSecondsPerByte = 2e-9;  // a few times what memory takes
constexpr int kLooks = 10;                    // that it takes to bring what was rung for through MPI
constexpr microseconds kSleep(2000);
constexpr microseconds kSleepUnheard(1);  // where not all can ring: the system makes 60 of it
constexpr microseconds kLongSleepUnheard(100);
constexpr int kBriefSleeps = 1000;

// MPI moves a message on only when it is called: what it asks back for is sent by a look, of which the other rank must
// hear too. That many rings take a message through. Ranks that all wait for another one would ring each other for
// ever, so only a ring after a silence, which is of one that has worked, is answered by as many again.
constexpr std::size_t kRings = 8;
constexpr std::size_t kBytesPerRing = 8192;
constexpr double kSilenceSeconds = 200e-6;

/// How long to look for others to come, by what this process has seen: where that is in vain the time becomes short;
/// one look in so many stays long, and finds out when it is worth while again.
class Eagerness {
 public:
  double share() {
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

}  // namespace

Patience::~Patience() {
  if (has_waited_ && look_seconds_ > 0 && n_sleeps_ == 0) eagerness.note(true);
}

Patience::Patience(std::size_t n_bytes) : n_bytes_(n_bytes), rings_left_(kRings + n_bytes / kBytesPerRing) {
  look_for(kLookSeconds * eagerness.share() + seconds_in_pieces());
}

double Patience::seconds_in_pieces() const {
  return n_bytes_ <= kBytesInOneGo ? 0 : kLookSecondsPerByte * static_cast<double>(n_bytes_);
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
    look_seconds_ = 0;
  }
  if (looks_left_-- > 0) return;
  if (bell_.is_armed()) {
    sleep();
  } else {
    bell_.arm();
  }
}

void Patience::sleep() {
  if (rings_left_ > 0) {
    --rings_left_;
    ring_doorbells();
  }
  ++n_sleeps_;
  const microseconds unheard = n_sleeps_ > kBriefSleeps ? kLongSleepUnheard : kSleepUnheard;
  const bool is_rung = bell_.sleep(hears_all_ranks() ? kSleep : unheard);
  looks_left_ = kLooks;
  if (!is_rung) {
    rings_left_ = 0;
    return;
  }
  if (since_ring_.restart() > kSilenceSeconds) rings_left_ = kRings + n_bytes_ / kBytesPerRing;
  look_for(seconds_in_pieces());
}

void await(std::span<MPI_Request> requests, std::size_t n_bytes) {
  if (requests.empty()) return;  // a group of one, maybe without MPI
  ring_doorbells();
  int are_over = 0;
  for (Patience patience(n_bytes);; patience.wait()) {
    check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &are_over, MPI_STATUSES_IGNORE),
          "MPI_Testall");
    if (are_over != 0) break;
  }
  ring_doorbells();
}

}  // namespace podere::comm
