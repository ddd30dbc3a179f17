// Refusing tables that would not fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "podere/comm/communicator.h"

namespace podere::io {

/// The most features of a table whose source does not hold a name for each. Names alone are tens of megabytes then.
inline constexpr std::uint64_t kMostFeatures = 1'000'000;

/// What takes memory: "field.npy: its rows", and what to do where there is too little.
struct MemoryNeed {
  std::string what;
  double bytes_here;
  std::string remedy;
};
/// Throws InputError, on all ranks, if what all ranks on one host need is more memory than that has left. Collective:
/// two all_gathers.
void check_memory(const MemoryNeed& need, const comm::Communicator& comm);

/// For a source whose rows take far more memory than it has bytes: throws InputError, on all ranks, if [n_rows_here x
/// n_columns] float32 of all ranks on one host are more memory than that has left. `name` is that of the source.
/// Collective, as check_memory.
void check_room(const std::string& name, std::uint64_t n_rows_here, std::uint64_t n_columns,
                const comm::Communicator& comm);

}  // namespace podere::io
