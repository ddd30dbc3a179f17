#include "podere/comm/communicator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/comm/mpi_handle.h"
#include "podere/comm/mpi_types.h"
#include "podere/comm/patience.h"
#include "podere/comm/wake_up.h"

namespace podere::comm {
namespace {

// MPI-3 counts and displacements are ints, and so are sums of counts inside MPI.
std::atomic<std::size_t> max_call_elements = std::size_t{1} << 30;

std::vector<int> to_ints(std::span<const std::size_t> counts) {
  std::vector<int> ints;
  ints.reserve(counts.size());
  for (const std::size_t count : counts) ints.push_back(to_int(count));
  return ints;
}

std::size_t sum(std::span<const std::size_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::byte* at(void* values, std::size_t element, ElementType type) {
  return static_cast<std::byte*>(values) + element * element_bytes(type);
}
const std::byte* at(const void* values, std::size_t element, ElementType type) {
  return static_cast<const std::byte*>(values) + element * element_bytes(type);
}

void copy_elements(const void* values, std::size_t n, void* copies, ElementType type) {
  if (n > 0) std::memcpy(copies, values, n * element_bytes(type));
}

/// Calls `call(first, n)` for runs of [0, n_elements) that MPI can take at once. At least one call, so that a
/// collective on nothing is still collective.
template <typename Call>
void in_calls(std::size_t n_elements, Call&& call) {
  const std::size_t most = max_call_elements;
  for (std::size_t first = 0; first == 0 || first < n_elements; first += most) {
    call(first, to_int(std::min(most, n_elements - first)));
  }
}

/// The same without a call on nothing, for messages between two ranks.
template <typename Call>
void in_calls_or_none(std::size_t n_elements, Call&& call) {
  if (n_elements > 0) in_calls(n_elements, call);
}

/// Runs a collective on so many bytes that `start(request)` starts, and waits for its end as Patience does.
template <typename Start>
void run_patiently(const char* what, std::size_t n_bytes, Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request), what);
  await(std::span(&request, 1), n_bytes);
}

/// Counts a collective for as long as it lives.
class Counted {
 public:
  Counted(TrafficByKind& traffic, Collective collective, std::size_t bytes)
      : traffic_(traffic[static_cast<std::size_t>(collective)]) {
    ++traffic_.calls;
    traffic_.bytes += bytes;
  }
  ~Counted() { traffic_.seconds += watch_.seconds(); }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 private:
  Traffic& traffic_;
  Stopwatch watch_;
};

}  // namespace

struct Communicator::Request {
  std::size_t n_bytes;
  std::vector<MPI_Request> requests;
  std::vector<int> counts;  // MPI reads them until the collective ends
};

void Communicator::RequestDeleter::operator()(Request* request) const { delete request; }

Environment::Environment() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  open_wake_ups();
}

Environment::~Environment() {
  close_wake_ups();
  MPI_Finalize();
}

Communicator::Communicator(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {
  if (handle_->comm == MPI_COMM_NULL) return;
  check(MPI_Comm_rank(handle_->comm, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(handle_->comm, &size_), "MPI_Comm_size");
}

Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Communicator Communicator::world() { return Communicator(std::make_unique<Handle>(MPI_COMM_WORLD, false)); }
Communicator Communicator::self() { return Communicator(std::make_unique<Handle>()); }

void Communicator::set_max_call_elements(std::size_t n) { max_call_elements = n; }

const TrafficByKind& Communicator::traffic() const { return handle_->traffic; }

std::size_t Communicator::shared_bytes(std::size_t n_bytes) const {
  return n_bytes - n_bytes / static_cast<std::size_t>(size_);
}

void Communicator::barrier() const {
  const Counted counted(handle_->traffic, Collective::kBarrier, 0);
  if (size_ == 1) return;
  run_patiently("MPI_Ibarrier", 0, [&](MPI_Request* request) { return MPI_Ibarrier(handle_->comm, request); });
}

void Communicator::broadcast_bytes(std::span<std::byte> bytes, int root) const {
  const Counted counted(handle_->traffic, Collective::kBroadcast, size_ == 1 ? 0 : bytes.size());
  if (size_ == 1) return;
  in_calls(bytes.size(), [&](std::size_t first, int n) {
    run_patiently("MPI_Ibcast", static_cast<std::size_t>(n), [&](MPI_Request* request) {
      return MPI_Ibcast(bytes.data() + first, n, MPI_BYTE, root, handle_->comm, request);
    });
  });
}

void Communicator::await_root() const {
  if (size_ == 1) return;
  constexpr std::chrono::microseconds kSleep(4000);
  constexpr std::chrono::microseconds kFirstSleep(20);
  char byte = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(&byte, 1, MPI_CHAR, 0, handle_->comm, &request), "MPI_Ibcast");
  wake_others();
  WakeUp wake_up;
  for (auto sleep = kFirstSleep;;) {
    int is_done = 0;
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done != 0) break;
    if (!wake_up.is_armed()) {
      wake_up.arm();
    } else if (!wake_up.sleep(sleep)) {
      sleep = std::min(sleep * 2, kSleep);
    }
  }
  wake_others();
}

std::string Communicator::broadcast_text(std::string text, int root) const {
  std::uint64_t n = text.size();
  broadcast(std::span(&n, 1), root);
  text.resize(n);
  broadcast(std::span(text), root);
  return text;
}

void Communicator::all_reduce_raw(void* values, std::size_t n, ElementType type, Reduction reduction) const {
  const Counted counted(handle_->traffic, Collective::kAllReduce, 2 * shared_bytes(n * element_bytes(type)));
  if (size_ == 1) return;
  in_calls(n, [&](std::size_t first, int count) {
    run_patiently("MPI_Iallreduce", static_cast<std::size_t>(count) * element_bytes(type), [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, at(values, first, type), count, mpi_type(type), mpi_op(reduction),
                            handle_->comm, request);
    });
  });
}

void Communicator::reduce_scatter_raw(const void* values, std::size_t n, void* received, std::size_t n_received,
                                      std::span<const std::size_t> counts, ElementType type,
                                      Reduction reduction) const {
  check_scatter(n, n_received, counts);
  const Counted counted(handle_->traffic, Collective::kReduceScatter, (n - n_received) * element_bytes(type));
  if (size_ == 1) {
    copy_elements(values, n, received, type);
    return;
  }
  constexpr std::size_t kLargeRunBytes = 16 << 10;
  constexpr int kMostPairwise = 64;
  const bool is_large = n * element_bytes(type) >= kLargeRunBytes * counts.size();
  if ((is_large && size_ < kMostPairwise) || n > max_call_elements) {
    reduce_pairwise(values, received, counts, type, reduction);
    return;
  }
  const std::vector<int> int_counts = to_ints(counts);
  if (is_large) {  // all of which would pass through rank 0
    run_patiently("MPI_Ibarrier", 0, [&](MPI_Request* request) { return MPI_Ibarrier(handle_->comm, request); });
    check(MPI_Reduce_scatter(values, received, int_counts.data(), mpi_type(type), mpi_op(reduction), handle_->comm),
          "MPI_Reduce_scatter");
    return;
  }
  run_patiently("MPI_Ireduce_scatter", n * element_bytes(type), [&](MPI_Request* request) {
    return MPI_Ireduce_scatter(values, received, int_counts.data(), mpi_type(type), mpi_op(reduction), handle_->comm,
                               request);
  });
}

/// Each rank sends every other its run and combines what it receives, in pieces that stay in a cache. As many steps and
/// bytes as Open MPI's ring, but that copies its whole buffer before it begins, and again what it sends on.
void Communicator::reduce_pairwise(const void* values, void* received, std::span<const std::size_t> counts,
                                   ElementType type, Reduction reduction) const {
  constexpr std::size_t kPieceBytes = 256 << 10;
  const std::size_t piece = std::min<std::size_t>(kPieceBytes / element_bytes(type), max_call_elements);
  const auto p = static_cast<std::size_t>(size_);
  const auto own = static_cast<std::size_t>(rank_);
  std::vector<std::size_t> starts(p);
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), std::size_t{0});
  if (counts[own] > 0) std::memcpy(received, at(values, starts[own], type), counts[own] * element_bytes(type));
  std::vector<std::byte> incoming(std::min(piece, counts[own]) * element_bytes(type));
  for (std::size_t step = 1; step < p; ++step) {
    const std::size_t to = (own + step) % p;
    const std::size_t from = (own + p - step) % p;
    for (std::size_t first = 0; first < std::max(counts[to], counts[own]); first += piece) {
      const int n_sent = first < counts[to] ? to_int(std::min(piece, counts[to] - first)) : 0;
      const int n_received = first < counts[own] ? to_int(std::min(piece, counts[own] - first)) : 0;
      std::array<MPI_Request, 2> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      check(MPI_Irecv(incoming.data(), n_received, mpi_type(type), n_received > 0 ? to_int(from) : MPI_PROC_NULL, 0,
                      handle_->comm, &requests[0]),
            "MPI_Irecv");
      check(MPI_Isend(n_sent > 0 ? at(values, starts[to] + first, type) : nullptr, n_sent, mpi_type(type),
                      n_sent > 0 ? to_int(to) : MPI_PROC_NULL, 0, handle_->comm, &requests[1]),
            "MPI_Isend");
      await(requests, static_cast<std::size_t>(std::max(n_sent, n_received)) * element_bytes(type));
      if (n_received == 0) continue;
      check(MPI_Reduce_local(incoming.data(), at(received, first, type), n_received, mpi_type(type), mpi_op(reduction)),
            "MPI_Reduce_local");
    }
  }
}

void Communicator::check_scatter(std::size_t n, std::size_t n_received, std::span<const std::size_t> counts) const {
  if (counts.size() != static_cast<std::size_t>(size_) || sum(counts) != n ||
      counts[static_cast<std::size_t>(rank_)] != n_received) {
    throw_error("reduce_scatter: {} values and {} received do not fit the counts", n, n_received);
  }
}

Communicator::RequestPtr Communicator::start_all_reduce_raw(void* values, std::size_t n, ElementType type,
                                                            Reduction reduction) const {
  const Counted counted(handle_->traffic, Collective::kAllReduce, 2 * shared_bytes(n * element_bytes(type)));
  RequestPtr request(new Request{n * element_bytes(type), {}, {}});
  if (size_ == 1) return request;
  in_calls(n, [&](std::size_t first, int count) {
    check(MPI_Iallreduce(MPI_IN_PLACE, at(values, first, type), count, mpi_type(type), mpi_op(reduction), handle_->comm,
                         &request->requests.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Iallreduce");
  });
  wake_others();
  return request;
}

Communicator::RequestPtr Communicator::start_reduce_scatter_raw(const void* values, std::size_t n, void* received,
                                                                std::size_t n_received,
                                                                std::span<const std::size_t> counts, ElementType type,
                                                                Reduction reduction) const {
  check_scatter(n, n_received, counts);
  const Counted counted(handle_->traffic, Collective::kReduceScatter, (n - n_received) * element_bytes(type));
  if (size_ == 1) {
    copy_elements(values, n, received, type);
    return RequestPtr(new Request{n * element_bytes(type), {}, {}});
  }
  if (n > max_call_elements) return start_large_reduce_scatter(values, received, counts, type, reduction);
  RequestPtr request(new Request{n * element_bytes(type), {}, {}});
  request->counts = to_ints(counts);
  check(MPI_Ireduce_scatter(values, received, request->counts.data(), mpi_type(type), mpi_op(reduction), handle_->comm,
                            &request->requests.emplace_back(MPI_REQUEST_NULL)),
        "MPI_Ireduce_scatter");
  wake_others();
  return request;
}

/// Too much for one call: each rank's run is reduced to it in pieces.
Communicator::RequestPtr Communicator::start_large_reduce_scatter(const void* values, void* received,
                                                                  std::span<const std::size_t> counts, ElementType type,
                                                                  Reduction reduction) const {
  RequestPtr request(new Request{sum(counts) * element_bytes(type), {}, {}});
  std::size_t run = 0;
  for (int root = 0; root < size_; ++root) {
    const std::size_t run_elements = counts[static_cast<std::size_t>(root)];
    in_calls(run_elements, [&](std::size_t first, int count) {
      check(MPI_Ireduce(at(values, run + first, type), rank_ == root ? at(received, first, type) : nullptr, count,
                        mpi_type(type), mpi_op(reduction), root, handle_->comm,
                        &request->requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Ireduce");
    });
    run += run_elements;
  }
  wake_others();
  return request;
}

void Communicator::wait_for(Request& request) { await(request.requests, request.n_bytes); }

void Communicator::gather_raw(const void* values, std::size_t n, const std::vector<std::size_t>& counts, void* gathered,
                              ElementType type) const {
  const auto own = static_cast<std::size_t>(rank_);
  if (counts.size() != static_cast<std::size_t>(size_) || counts[own] != n) {
    throw_error("all_gather: {} values do not fit the counts", n);
  }
  const auto others = static_cast<std::size_t>(size_ - 1);
  const Counted counted(handle_->traffic, Collective::kAllGather, counts[own] * others * element_bytes(type));
  if (size_ == 1) {
    copy_elements(values, n, gathered, type);
    return;
  }
  if (sum(counts) <= max_call_elements) {
    const std::vector<int> int_counts = to_ints(counts);
    std::vector<int> starts(counts.size());
    std::exclusive_scan(int_counts.begin(), int_counts.end(), starts.begin(), 0);
    run_patiently("MPI_Iallgatherv", sum(counts) * element_bytes(type), [&](MPI_Request* request) {
      return MPI_Iallgatherv(values, int_counts[own], mpi_type(type), gathered, int_counts.data(), starts.data(),
                             mpi_type(type), handle_->comm, request);
    });
    return;
  }
  std::size_t run = 0;
  for (int root = 0; root < size_; ++root) {
    const std::size_t run_bytes = counts[static_cast<std::size_t>(root)] * element_bytes(type);
    std::byte* const target = at(gathered, run, type);
    if (root == rank_ && run_bytes > 0) std::memcpy(target, values, run_bytes);
    in_calls(run_bytes, [&](std::size_t first, int count) {
      run_patiently("MPI_Ibcast", static_cast<std::size_t>(count), [&](MPI_Request* request) {
        return MPI_Ibcast(target + first, count, MPI_BYTE, root, handle_->comm, request);
      });
    });
    run += counts[static_cast<std::size_t>(root)];
  }
}

void Communicator::all_to_all_raw(const void* values, std::size_t n, std::span<const std::size_t> counts,
                                  void* received, std::span<const std::size_t> received_counts,
                                  ElementType type) const {
  if (sum(counts) != n) throw_error("all_to_all: {} values do not fit the counts", n);
  const auto p = static_cast<std::size_t>(size_);
  const std::size_t n_kept = counts[static_cast<std::size_t>(rank_)];
  const Counted counted(handle_->traffic, Collective::kAllToAll, (n - n_kept) * element_bytes(type));
  std::vector<std::size_t> sent_starts(p);
  std::vector<std::size_t> received_starts(p);
  std::exclusive_scan(counts.begin(), counts.end(), sent_starts.begin(), std::size_t{0});
  std::exclusive_scan(received_counts.begin(), received_counts.end(), received_starts.begin(), std::size_t{0});
  // In step s every rank sends to the rank s above it and receives from the rank s below it.
  for (std::size_t step = 0; step < p; ++step) {
    const std::size_t to = (static_cast<std::size_t>(rank_) + step) % p;
    const std::size_t from = (static_cast<std::size_t>(rank_) + p - step) % p;
    if (step == 0) {
      if (counts[to] > 0) {
        std::memcpy(at(received, received_starts[to], type), at(values, sent_starts[to], type),
                    counts[to] * element_bytes(type));
      }
      continue;
    }
    std::vector<MPI_Request> requests;
    in_calls_or_none(received_counts[from], [&](std::size_t first, int count) {
      check(MPI_Irecv(at(received, received_starts[from] + first, type), count, mpi_type(type), to_int(from), 0,
                      handle_->comm, &requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Irecv");
    });
    in_calls_or_none(counts[to], [&](std::size_t first, int count) {
      check(MPI_Isend(at(values, sent_starts[to] + first, type), count, mpi_type(type), to_int(to), 0, handle_->comm,
                      &requests.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
    });
    await(requests, (counts[to] + received_counts[from]) * element_bytes(type));
  }
}

void Communicator::exclusive_scan_raw(const void* value, void* result, ElementType type, Reduction reduction) const {
  const Counted counted(handle_->traffic, Collective::kScan, size_ == 1 ? 0 : element_bytes(type));
  if (size_ == 1) return;
  run_patiently("MPI_Iexscan", 0, [&](MPI_Request* request) {
    return MPI_Iexscan(value, result, 1, mpi_type(type), mpi_op(reduction), handle_->comm, request);
  });
}

std::vector<std::size_t> Communicator::all_counts(std::size_t n) const {
  return all_gather(static_cast<std::uint64_t>(n));
}

std::vector<std::size_t> Communicator::exchange_counts(std::span<const std::size_t> counts) const {
  if (counts.size() != static_cast<std::size_t>(size_))
    throw_error("all_to_all: {} counts for {} ranks", counts.size(), size_);
  const Counted counted(handle_->traffic, Collective::kAllToAll, (counts.size() - 1) * sizeof(std::uint64_t));
  if (size_ == 1) return {counts.begin(), counts.end()};
  std::vector<std::size_t> received(counts.size());
  run_patiently("MPI_Ialltoall", 0, [&](MPI_Request* request) {
    return MPI_Ialltoall(counts.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, handle_->comm, request);
  });
  return received;
}

Communicator Communicator::split(int color, int key) const {
  if (handle_->comm == MPI_COMM_NULL) return self();
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(handle_->comm, color, key, &part), "MPI_Comm_split");
  return Communicator(std::make_unique<Handle>(part, true));
}

}  // namespace podere::comm
