// A group of executors and what they can do together. The only room that includes <mpi.h>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "podere/comm/traffic.h"

namespace podere::comm {

/// How elements are combined by all_reduce, reduce_scatter and exclusive_scan. kBitOr needs integers.
enum class Reduction { kSum, kMin, kMax, kBitOr };

enum class ElementType { kByte, kInt32, kUint32, kInt64, kUint64, kFloat, kDouble };
template <ElementType kType>
struct IsSentAs {
  static constexpr ElementType value = kType;
};
/// How elements of type T are sent. A type without a specialization fails to compile.
template <typename T>
struct ElementTypeOf;
template <>
struct ElementTypeOf<std::byte> : IsSentAs<ElementType::kByte> {};
template <>
struct ElementTypeOf<char> : IsSentAs<ElementType::kByte> {};
template <>
struct ElementTypeOf<unsigned char> : IsSentAs<ElementType::kByte> {};
template <>
struct ElementTypeOf<std::int32_t> : IsSentAs<ElementType::kInt32> {};
template <>
struct ElementTypeOf<std::uint32_t> : IsSentAs<ElementType::kUint32> {};
template <>
struct ElementTypeOf<std::int64_t> : IsSentAs<ElementType::kInt64> {};
template <>
struct ElementTypeOf<std::uint64_t> : IsSentAs<ElementType::kUint64> {};
template <>
struct ElementTypeOf<float> : IsSentAs<ElementType::kFloat> {};
template <>
struct ElementTypeOf<double> : IsSentAs<ElementType::kDouble> {};

/// Starts MPI for the life of the process. A process that was not started by mpirun or srun is a group of one.
/// Make exactly one, in main, before any Communicator.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// A non-blocking collective under way on a buffer of T; owns the buffer until wait(). Its destructor waits.
template <typename T>
class Pending;

/// A group of executors.
///
/// Every member function but rank(), size(), is_root() and traffic() is collective: all ranks call it, in the same
/// order, with the same root, reduction and (unless documented otherwise) counts, from one thread and outside parallel
/// regions. Counts may exceed 2^31. Steps and bytes are per rank, for p ranks and n bytes, as Open MPI does them for
/// large buffers. Throws Error if MPI reports a failure.
class Communicator {
 public:
  /// Borrows the group of all processes.
  static Communicator world();
  /// A group of this process alone. Needs no Environment, and never calls MPI: for processes that MPI did not start.
  static Communicator self();

  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;
  ~Communicator();

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool is_root() const { return rank_ == 0; }
  /// What this group's collectives have cost this rank since it was made. Of those that were only started, the wait
  /// is not counted.
  const TrafficByKind& traffic() const;

  void barrier() const;

  /// `values` [n] of rank `root` replaces that of all. log p steps, n bytes each.
  template <typename T>
  void broadcast(std::span<T> values, int root = 0) const {
    broadcast_bytes(std::as_writable_bytes(values), root);
  }

  /// Returns once rank 0 has called it. Those who wait leave their processors to others, which a collective does not:
  /// for waits of more than some milliseconds, by which they may see it later. Not counted as traffic.
  void await_root() const;

  /// The text of rank `root`, of any length, on every rank.
  std::string broadcast_text(std::string text, int root = 0) const;

  /// Replaces `values` [n] by the combination over all ranks, on every rank. 2(p-1) steps, 2n(p-1)/p bytes.
  /// Sums of floating-point numbers depend on the number of ranks: use integers or ExactSum where that matters.
  template <typename T>
  void all_reduce(std::span<T> values, Reduction reduction) const {
    all_reduce_raw(values.data(), values.size(), ElementTypeOf<T>::value, reduction);
  }
  template <typename T>
  T all_reduce(T value, Reduction reduction) const {
    all_reduce(std::span<T>(&value, 1), reduction);
    return value;
  }

  /// Combines `values` [sum of counts] over all ranks; rank r receives the r-th run, of counts[r] elements, into
  /// `received` [counts[rank()]]. p-1 steps, n(p-1)/p bytes.
  template <typename T>
  void reduce_scatter(std::span<const T> values, std::span<T> received, std::span<const std::size_t> counts,
                      Reduction reduction) const {
    reduce_scatter_raw(values.data(), values.size(), received.data(), received.size(), counts, ElementTypeOf<T>::value,
                       reduction);
  }

  /// The `values` [n] of all ranks, in rank order [p * n]. p-1 steps, n(p-1) bytes.
  template <typename T>
  std::vector<T> all_gather(std::span<const T> values) const {
    std::vector<T> gathered(values.size() * static_cast<std::size_t>(size_));
    const std::vector<std::size_t> counts(static_cast<std::size_t>(size_), values.size());
    gather_raw(values.data(), values.size(), counts, gathered.data(), ElementTypeOf<T>::value);
    return gathered;
  }
  template <typename T>
  std::vector<T> all_gather(T value) const {
    return all_gather(std::span<const T>(&value, 1));
  }

  /// As all_gather, where every rank may give another number of values. Counts are exchanged first.
  template <typename T>
  std::vector<T> all_gather_v(std::span<const T> values) const {
    return all_gather_v(values, all_counts(values.size()));
  }
  /// The same where all ranks know how many values each gives: `counts` [p].
  template <typename T>
  std::vector<T> all_gather_v(std::span<const T> values, const std::vector<std::size_t>& counts) const {
    std::size_t total = 0;
    for (const std::size_t count : counts) total += count;
    std::vector<T> gathered(total);
    gather_raw(values.data(), values.size(), counts, gathered.data(), ElementTypeOf<T>::value);
    return gathered;
  }

  /// Rank r receives the r-th of the p equal runs of `values` [p * n] of every rank, in rank order [p * n].
  template <typename T>
  std::vector<T> all_to_all(std::span<const T> values) const {
    return all_to_all_v(values, std::vector<std::size_t>(static_cast<std::size_t>(size_),
                                                         values.size() / static_cast<std::size_t>(size_)));
  }

  /// Sends the r-th run of `values`, of counts[r] elements, to rank r; returns what was received, in rank order.
  /// Counts may differ from rank to rank and are exchanged first. p-1 steps.
  template <typename T>
  std::vector<T> all_to_all_v(std::span<const T> values, std::span<const std::size_t> counts) const {
    const std::vector<std::size_t> received_counts = exchange_counts(counts);
    std::size_t total = 0;
    for (const std::size_t count : received_counts) total += count;
    std::vector<T> received(total);
    all_to_all_raw(values.data(), values.size(), counts, received.data(), received_counts, ElementTypeOf<T>::value);
    return received;
  }

  /// The combination of the values of all ranks below this one; `identity` on rank 0.
  template <typename T>
  T exclusive_scan(T value, Reduction reduction, T identity) const {
    T result = identity;
    exclusive_scan_raw(&value, &result, ElementTypeOf<T>::value, reduction);
    return rank_ == 0 ? identity : result;
  }

  /// Starts an all_reduce and returns at once.
  template <typename T>
  Pending<T> start_all_reduce(std::vector<T> values, Reduction reduction) const;

  /// Starts a reduce_scatter and returns at once; wait() gives this rank's run [counts[rank()]].
  /// Open MPI 4 does it by way of rank 0: all n bytes pass through it. Use it for small buffers.
  template <typename T>
  Pending<T> start_reduce_scatter(std::vector<T> values, std::span<const std::size_t> counts,
                                  Reduction reduction) const;

  /// Groups of the ranks that gave the same `color`, ordered by (key, rank). Returns this rank's group, owned.
  Communicator split(int color, int key) const;

  /// Runs `phase` here and agrees with all ranks on how it went: if it threw on any rank, every rank throws. The
  /// rank where it failed throws its own exception; the others throw the same kind (InputError or Error) with the
  /// message of the lowest failing rank. `phase` must not call collectives after the point where it may throw.
  void agree(const std::function<void()>& phase) const;

  /// Largest number of elements in one MPI call; larger buffers go in several. Tests lower it.
  static void set_max_call_elements(std::size_t n);

 private:
  template <typename T>
  friend class Pending;
  friend class Messages;
  struct Handle;
  struct Request;
  explicit Communicator(std::unique_ptr<Handle> handle);

  void broadcast_bytes(std::span<std::byte> bytes, int root) const;
  void all_reduce_raw(void* values, std::size_t n, ElementType type, Reduction reduction) const;
  void reduce_scatter_raw(const void* values, std::size_t n, void* received, std::size_t n_received,
                          std::span<const std::size_t> counts, ElementType type, Reduction reduction) const;
  void reduce_pairwise(const void* values, void* received, std::span<const std::size_t> counts, ElementType type,
                       Reduction reduction) const;
  void gather_raw(const void* values, std::size_t n, const std::vector<std::size_t>& counts, void* gathered,
                  ElementType type) const;
  void all_to_all_raw(const void* values, std::size_t n, std::span<const std::size_t> counts, void* received,
                      std::span<const std::size_t> received_counts, ElementType type) const;
  void exclusive_scan_raw(const void* value, void* result, ElementType type, Reduction reduction) const;
  /// Bytes of what is not this rank's own share of n bytes.
  std::size_t shared_bytes(std::size_t n_bytes) const;
  void check_scatter(std::size_t n, std::size_t n_received, std::span<const std::size_t> counts) const;
  std::vector<std::size_t> all_counts(std::size_t n) const;
  std::vector<std::size_t> exchange_counts(std::span<const std::size_t> counts) const;

  static void wait_for(Request& request);
  struct RequestDeleter {
    void operator()(Request* request) const;
  };
  using RequestPtr = std::unique_ptr<Request, RequestDeleter>;
  RequestPtr start_all_reduce_raw(void* values, std::size_t n, ElementType type, Reduction reduction) const;
  RequestPtr start_reduce_scatter_raw(const void* values, std::size_t n, void* received, std::size_t n_received,
                                      std::span<const std::size_t> counts, ElementType type, Reduction reduction) const;

  RequestPtr start_large_reduce_scatter(const void* values, void* received, std::span<const std::size_t> counts,
                                        ElementType type, Reduction reduction) const;

  std::unique_ptr<Handle> handle_;
  int rank_ = 0;
  int size_ = 1;
};

template <typename T>
class Pending {
 public:
  Pending(Pending&&) noexcept = default;
  Pending& operator=(Pending&& other) noexcept {
    release();
    values_ = std::move(other.values_);
    received_ = std::move(other.received_);
    request_ = std::move(other.request_);
    return *this;
  }
  ~Pending() { release(); }

  /// Waits for the end and gives the result away. Call once.
  std::vector<T> wait() {
    Communicator::wait_for(*request_);
    request_.reset();
    return std::move(received_);
  }

 private:
  friend class Communicator;
  Pending() = default;
  void release() {
    if (request_) Communicator::wait_for(*request_);
    request_.reset();
  }

  std::vector<T> values_;
  std::vector<T> received_;
  Communicator::RequestPtr request_;
};

template <typename T>
Pending<T> Communicator::start_all_reduce(std::vector<T> values, Reduction reduction) const {
  Pending<T> pending;
  pending.received_ = std::move(values);
  pending.request_ =
      start_all_reduce_raw(pending.received_.data(), pending.received_.size(), ElementTypeOf<T>::value, reduction);
  return pending;
}

template <typename T>
Pending<T> Communicator::start_reduce_scatter(std::vector<T> values, std::span<const std::size_t> counts,
                                              Reduction reduction) const {
  Pending<T> pending;
  pending.values_ = std::move(values);
  pending.received_.resize(counts.size() > static_cast<std::size_t>(rank_) ? counts[static_cast<std::size_t>(rank_)]
                                                                           : 0);
  pending.request_ = start_reduce_scatter_raw(pending.values_.data(), pending.values_.size(), pending.received_.data(),
                                              pending.received_.size(), counts, ElementTypeOf<T>::value, reduction);
  return pending;
}

}  // namespace podere::comm
