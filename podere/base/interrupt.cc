#include "podere/base/interrupt.h"

#include <atomic>
#include <csignal>

namespace podere {
namespace {

std::atomic<int> n_interrupts = 0;
std::atomic<bool> has_notice = false;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

}  // namespace

void count_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int) { ++n_interrupts; };
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

int interrupts() { return n_interrupts; }

void note_notices() {
  struct sigaction action = {};
  action.sa_handler = [](int) { has_notice = true; };
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
}

bool take_notice() { return has_notice.exchange(false); }

}  // namespace podere
