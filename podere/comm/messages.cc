#include "podere/comm/messages.h"

#include <algorithm>
#include <limits>

#include "podere/comm/mpi_handle.h"
#include "podere/comm/patience.h"
#include "podere/comm/wake_up.h"

namespace podere::comm {
namespace {

int to_count(std::size_t n_bytes) {
  if (n_bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw_error("a message of {} bytes", n_bytes);
  }
  return static_cast<int>(n_bytes);
}

constexpr int kTag = 0;

}  // namespace

struct Transfer::Request {
  MPI_Request request = MPI_REQUEST_NULL;
  std::size_t n_bytes = 0;

  bool is_over() {
    int is_done = 0;
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  }
};

Transfer::Transfer() = default;
Transfer::Transfer(Transfer&&) noexcept = default;
Transfer& Transfer::operator=(Transfer&& other) noexcept {
  if (request_) wait();
  request_ = std::move(other.request_);
  return *this;
}
Transfer::~Transfer() {
  if (request_) wait();
}

void Transfer::wait() {
  if (request_) await(std::span(&request_->request, 1), request_->n_bytes);
  request_.reset();
}

bool Transfer::is_over() {
  if (request_ && request_->is_over()) request_.reset();
  return request_ == nullptr;
}

Messages::Messages(const Communicator& group) : handle_(std::make_unique<Communicator::Handle>()) {
  if (group.size() == 1) return;
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(group.handle_->comm, &own), "MPI_Comm_dup");
  handle_ = std::make_unique<Communicator::Handle>(own, true);
}

Messages::Messages(Messages&&) noexcept = default;
Messages::~Messages() = default;

Transfer Messages::start_send(std::span<const std::byte> bytes, int to) const {
  Transfer transfer;
  transfer.request_ = std::make_unique<Transfer::Request>(Transfer::Request{MPI_REQUEST_NULL, bytes.size()});
  check(MPI_Isend(bytes.data(), to_count(bytes.size()), MPI_BYTE, to, kTag, handle_->comm, &transfer.request_->request),
        "MPI_Isend");
  wake_others();
  return transfer;
}

Transfer Messages::start_receive(std::span<std::byte> bytes, int from) const {
  Transfer transfer;
  transfer.request_ = std::make_unique<Transfer::Request>(Transfer::Request{MPI_REQUEST_NULL, bytes.size()});
  check(
      MPI_Irecv(bytes.data(), to_count(bytes.size()), MPI_BYTE, from, kTag, handle_->comm, &transfer.request_->request),
      "MPI_Irecv");
  wake_others();
  return transfer;
}

std::size_t Messages::await_any(std::span<Transfer> transfers, std::size_t first) {
  std::size_t most_bytes = 0;
  for (const Transfer& transfer : transfers) {
    if (transfer.request_) most_bytes = std::max(most_bytes, transfer.request_->n_bytes);
  }
  for (Patience patience(most_bytes);; patience.wait()) {
    for (std::size_t k = 0; k < transfers.size(); ++k) {
      const std::size_t i = (first + k) % transfers.size();
      if (!transfers[i].request_ || !transfers[i].request_->is_over()) continue;
      transfers[i].request_.reset();
      wake_others();
      return i;
    }
  }
}

}  // namespace podere::comm
