#include "podere/comm/doorbell.h"

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
struct Bell {
  std::atomic<std::uint64_t> owner;  // a random number, by which others know that it is that rank's
  std::atomic<std::uint32_t> rings;  // a futex
  std::atomic<std::uint32_t> rings_from_work;
  std::atomic<std::uint32_t> is_awaited;
  std::atomic<std::int32_t> processor;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

/// Where a bell is: a file of a process, which has no name, so that nothing is left when all are killed.
struct Address {
  std::uint64_t machine;  // 0: there is no bell
  std::uint64_t owner;
  std::int64_t process;
  std::int64_t file;
};

/// As MPI itself: one for a process.
struct Bells {
  Bell* own = nullptr;
  std::vector<Bell*> others;
  bool reach_all = false;
} bells;

Bell* map_bell(int file) {
  void* const place = mmap(nullptr, sizeof(Bell), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return place == MAP_FAILED ? nullptr : static_cast<Bell*>(place);
}

/// Of the processes that see each other on this machine; 0 if that cannot be told.
std::uint64_t this_machine() {
  struct stat processes {};
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty() || stat("/proc/self/ns/pid", &processes) != 0) return 0;
  return hash64(std::hash<std::string>()(boot + host.data()), processes.st_ino, 0) | 1;
}

Bell* open_bell(const Address& at) {
  const std::string path = "/proc/" + std::to_string(at.process) + "/fd/" + std::to_string(at.file);
  const int file = ::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat found {};
  const bool may_be = fstat(file, &found) == 0 && found.st_size == sizeof(Bell);
  Bell* const bell = may_be ? map_bell(file) : nullptr;
  ::close(file);
  if (bell == nullptr || bell->owner == at.owner) return bell;
  munmap(bell, sizeof(Bell));
  return nullptr;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout, nullptr, 0);
}

void ring(bool is_from_work) {
  if (bells.own != nullptr) bells.own->processor.store(sched_getcpu(), std::memory_order_relaxed);
  // Orders what was sent before the look at who sleeps; pairs with arm().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (Bell* const bell : bells.others) {
    if (bell->is_awaited == 0) continue;
    if (is_from_work) ++bell->rings_from_work;
    ++bell->rings;
    futex(bell->rings, FUTEX_WAKE, 1, nullptr);
  }
}

}  // namespace

void open_doorbells() {
  int n_ranks = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks), "MPI_Comm_size");
  bells.reach_all = n_ranks == 1;
  if (n_ranks == 1) return;
  const int file = memfd_create("podere-doorbell", MFD_CLOEXEC);
  Address address{.machine = 0, .owner = 0, .process = getpid(), .file = file};
  if (file >= 0 && ftruncate(file, sizeof(Bell)) == 0) bells.own = map_bell(file);
  if (bells.own != nullptr) {
    std::random_device random;
    address.owner = (std::uint64_t{random()} << 32) | random();
    address.machine = this_machine();
    bells.own->owner = address.owner;
  }
  std::vector<Address> all(static_cast<std::size_t>(n_ranks));
  check(MPI_Allgather(&address, sizeof(Address), MPI_BYTE, all.data(), sizeof(Address), MPI_BYTE, MPI_COMM_WORLD),
        "MPI_Allgather");
  for (const Address& at : all) {
    if (at.machine == 0 || at.machine != address.machine || at.process == address.process) continue;
    if (Bell* const bell = open_bell(at); bell != nullptr) bells.others.push_back(bell);
  }
  // Reach may be one-way: long sleeps need every rank to reach every other.
  int reach_all = bells.others.size() + 1 == all.size() ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &reach_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  bells.reach_all = reach_all != 0;
  if (file >= 0) ::close(file);
}

void close_doorbells() {
  for (Bell* const bell : bells.others) munmap(bell, sizeof(Bell));
  if (bells.own != nullptr) munmap(bells.own, sizeof(Bell));
  bells = {};
}

bool hears_all_ranks() { return bells.reach_all; }

std::uint32_t n_rings_from_work() { return bells.own != nullptr ? bells.own->rings_from_work.load() : 0; }

void ring_doorbells() { ring(true); }
void ring_back() { ring(false); }

bool is_processor_needed() {
  const int here = sched_getcpu();
  return std::ranges::any_of(bells.others, [here](const Bell* bell) {
    return bell->processor.load(std::memory_order_relaxed) == here &&
           bell->is_awaited.load(std::memory_order_relaxed) == 0;
  });
}

Doorbell::~Doorbell() {
  if (is_armed_ && bells.own != nullptr) bells.own->is_awaited = 0;
}

void Doorbell::arm() {
  is_armed_ = true;
  if (bells.own == nullptr) return;
  rings_before_ = bells.own->rings;
  bells.own->is_awaited = 1;
  std::atomic_thread_fence(std::memory_order_seq_cst);  // before the look that follows
}

bool Doorbell::sleep(std::chrono::microseconds longest) {
  is_armed_ = false;
  if (bells.own == nullptr) {
    std::this_thread::sleep_for(longest);
    return false;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(longest - seconds).count()};
  futex(bells.own->rings, FUTEX_WAIT, rings_before_, &timeout);
  bells.own->is_awaited = 0;
  return bells.own->rings != rings_before_;
}

}  // namespace podere::comm
