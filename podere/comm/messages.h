// Messages between two executors of a group, beside its collectives.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"

namespace podere::comm {

/// A message on its way, from memory or to memory that stays until it is there. Its destructor waits for that.
class Transfer {
 public:
  /// None.
  Transfer();
  Transfer(Transfer&&) noexcept;
  Transfer& operator=(Transfer&&) noexcept;
  ~Transfer();

  /// Returns once the memory is free to be used again. Leaves the processor to others meanwhile.
  void wait();
  /// Whether it is, or was none. Does not wait.
  bool is_over();

 private:
  friend class Messages;
  struct Request;
  std::unique_ptr<Request> request_;
};

/// Between two ranks messages come in the order in which they were sent. Of each at most 2^31 - 1 bytes; a receiver
/// knows how many. All from one thread, outside parallel regions. Throws Error if MPI reports a failure.
class Messages {
 public:
  /// Of the ranks of `group`, kept apart from all other messages and collectives. Collective.
  explicit Messages(const Communicator& group);
  Messages(Messages&&) noexcept;
  ~Messages();

  Transfer start_send(std::span<const std::byte> bytes, int to) const;
  Transfer start_receive(std::span<std::byte> bytes, int from) const;

  /// The place of one of the transfers that is over, which then is none; waits for it. One at least must be under way.
  /// They are looked at from `first` on and round: so none has to stand back for ever.
  static std::size_t await_any(std::span<Transfer> transfers, std::size_t first = 0);

 private:
  std::unique_ptr<Communicator::Handle> handle_;
};

}  // namespace podere::comm
