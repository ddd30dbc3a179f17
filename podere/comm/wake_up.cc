#include "podere/comm/wake_up.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/hash.h"
#include "podere/comm/mpi_handle.h"

namespace podere::comm {
namespace {

/// One for each rank, in memory that the ranks of a machine share.
struct WakeWord {
  std::atomic<std::uint64_t> owner;  // a random number, by which others recognize it as that rank's
  std::atomic<std::uint32_t> count;  // a futex
  std::atomic<std::uint32_t> wake_ups_from_work;
  std::atomic<std::uint32_t> is_awaited;
  std::atomic<std::int32_t> processor;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

/// Where a word is mapped from: a file of a process, without a name, so that nothing is left when all are killed.
struct Address {
  std::uint64_t machine;  // 0: there is none
  std::uint64_t owner;
  std::int64_t process;
  std::int64_t file;
};

/// As MPI itself: one for a process.
struct WakeWords {
  WakeWord* own = nullptr;
  std::vector<WakeWord*> others;
  bool reach_all = false;
} wake_words;

WakeWord* map_word(int file) {
  void* const place = mmap(nullptr, sizeof(WakeWord), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return place == MAP_FAILED ? nullptr : static_cast<WakeWord*>(place);
}

/// Of the processes that see each other on this machine; 0 if that is unknown.
std::uint64_t this_machine() {
  struct stat processes {};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return 0;
  return hash64(std::hash<std::string>()(boot + host.data()), processes.st_ino, 0) | 1;
}

WakeWord* open_word(const Address& at) {
  const std::string path = "/proc/" + std::to_string(at.process) + "/fd/" + std::to_string(at.file);
  const int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat found {};
  const bool may_be = fstat(file, &found) == 0 && found.st_size == sizeof(WakeWord);
  WakeWord* const word = may_be ? map_word(file) : nullptr;
  ::close(file);
  if (word == nullptr || word->owner == at.owner) return word;
  munmap(word, sizeof(WakeWord));
  return nullptr;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

void wake_sleepers(bool is_from_work) {
  if (wake_words.own != nullptr) wake_words.own->processor.store(sched_getcpu(), std::memory_order_relaxed);
  // Orders what was sent before the look at who sleeps; pairs with arm().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (WakeWord* const word : wake_words.others) {
    if (word->is_awaited == 0) continue;
    if (is_from_work) ++word->wake_ups_from_work;
    ++word->count;
    futex(word->count, FUTEX_WAKE, 1, nullptr);
  }
}

}  // namespace

void open_wake_ups() {
  int n_ranks = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks), "MPI_Comm_size");
  wake_words.reach_all = n_ranks == 1;
  if (n_ranks == 1) return;
  const int file = memfd_create("podere-wake-up", MFD_CLOEXEC);
  Address address{.machine = 0, .owner = 0, .process = getpid(), .file = file};
  if (file >= 0 && ftruncate(file, sizeof(WakeWord)) == 0) wake_words.own = map_word(file);
  if (wake_words.own != nullptr) {
    std::random_device random;
    address.owner = (std::uint64_t{random()} << 32) | random();
    address.machine = this_machine();
    wake_words.own->owner = address.owner;
  }
  std::vector<Address> all(static_cast<std::size_t>(n_ranks));
  check(MPI_Allgather(&address, sizeof(Address), MPI_BYTE, all.data(), sizeof(Address), MPI_BYTE, MPI_COMM_WORLD),
        "MPI_Allgather");
  for (const Address& at : all) {
    if (at.machine == 0 || at.machine != address.machine || at.process == address.process) continue;
    if (WakeWord* const word = open_word(at); word != nullptr) wake_words.others.push_back(word);
  }
  // Reach may be one-way: long sleeps need every rank to reach every other.
  int reach_all = wake_words.others.size() + 1 == all.size() ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &reach_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  wake_words.reach_all = reach_all != 0;
  if (file >= 0) ::close(file);
}

void close_wake_ups() {
  for (WakeWord* const word : wake_words.others) munmap(word, sizeof(WakeWord));
  if (wake_words.own != nullptr) munmap(wake_words.own, sizeof(WakeWord));
  wake_words = {};
}

bool can_all_be_woken() { return wake_words.reach_all; }

std::uint32_t n_wake_ups_from_work() {
  return wake_words.own != nullptr ? wake_words.own->wake_ups_from_work.load() : 0;
}

void wake_others() { wake_sleepers(true); }
void wake_others_idle() { wake_sleepers(false); }

bool is_processor_needed() {
  const int here = sched_getcpu();
  return std::ranges::any_of(wake_words.others, [here](const WakeWord* word) {
    return word->processor.load(std::memory_order_relaxed) == here &&
           word->is_awaited.load(std::memory_order_relaxed) == 0;
  });
}

WakeUp::~WakeUp() {
  if (is_armed_ && wake_words.own != nullptr) wake_words.own->is_awaited = 0;
}

void WakeUp::arm() {
  is_armed_ = true;
  if (wake_words.own == nullptr) return;
  count_before_ = wake_words.own->count;
  wake_words.own->is_awaited = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // before the look that follows
}

bool WakeUp::sleep(std::chrono::microseconds longest) {
  is_armed_ = false;
  if (wake_words.own == nullptr) {
    std::this_thread::sleep_for(longest);
    return false;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(longest - seconds).count()};
  futex(wake_words.own->count, FUTEX_WAIT, count_before_, &timeout);
  wake_words.own->is_awaited = 0;
  return wake_words.own->count != count_before_;
}

}  // namespace podere::comm
