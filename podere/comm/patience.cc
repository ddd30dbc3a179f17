#include "podere/comm/patience.h"

#include <chrono>
#include <thread>

#include "podere/comm/mpi_handle.h"

namespace podere::comm {

namespace {

constexpr double kLookSeconds = 150e-6;       // falling asleep and being woken takes half of that
constexpr double kLookSecondsPerByte = 2e-9;  // a few times what memory takes
constexpr int kBriefSleeps = 1000;            // of about 60 microseconds: the least that the system sleeps

}  // namespace

Patience::Patience(std::size_t n_bytes)
    : look_seconds_(kLookSeconds + kLookSecondsPerByte * static_cast<double>(n_bytes)) {}

void Patience::wait() {
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
