// MPI behind Communicator. For the files of this room alone.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"

namespace podere::comm {

/// Throws Error where a call of MPI did not succeed.
inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw_error("{} failed: {}", what, std::string(text.data(), static_cast<std::size_t>(length)));
}

struct Communicator::Handle {
  /// No group of MPI: this process alone.
  Handle() = default;
  Handle(MPI_Comm group, bool is_owned) : comm(group), owned(is_owned) {
    check(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~Handle() {
    if (owned) MPI_Comm_free(&comm);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  bool owned = false;
  TrafficByKind traffic;
};

}  // namespace podere::comm
