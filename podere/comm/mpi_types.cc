#include "podere/comm/mpi_types.h"

#include <limits>

#include "podere/base/error.h"

namespace podere::comm {

MPI_Datatype mpi_type(ElementType type) {
  switch (type) {
    case ElementType::kByte:
      return MPI_BYTE;
    case ElementType::kInt32:
      return MPI_INT32_T;
    case ElementType::kUint32:
      return MPI_UINT32_T;
    case ElementType::kInt64:
      return MPI_INT64_T;
    case ElementType::kUint64:
      return MPI_UINT64_T;
    case ElementType::kFloat:
      return MPI_FLOAT;
    case ElementType::kDouble:
      return MPI_DOUBLE;
  }
  throw Error("unknown element type");
}

std::size_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kByte:
      return 1;
    case ElementType::kInt32:
    case ElementType::kUint32:
    case ElementType::kFloat:
      return 4;
    case ElementType::kInt64:
    case ElementType::kUint64:
    case ElementType::kDouble:
      return 8;
  }
  throw Error("unknown element type");
}

MPI_Op mpi_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return MPI_SUM;
    case Reduction::kMin:
      return MPI_MIN;
    case Reduction::kMax:
      return MPI_MAX;
    case Reduction::kBitOr:
      return MPI_BOR;
  }
  throw Error("unknown reduction");
}

int to_int(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max())) throw_error("an MPI call of {} elements", n);
  return static_cast<int>(n);
}

}  // namespace podere::comm
