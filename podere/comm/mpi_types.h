// What MPI calls elements, reductions and counts. For the files of this room alone.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "podere/comm/communicator.h"

namespace podere::comm {

MPI_Datatype mpi_type(ElementType type);
std::size_t element_bytes(ElementType type);
MPI_Op mpi_op(Reduction reduction);
/// Throws Error for more than MPI-3 counts.
int to_int(std::size_t n);

}  // namespace podere::comm
