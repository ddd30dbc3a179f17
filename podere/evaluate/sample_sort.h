// Sorting over executors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "podere/comm/communicator.h"

namespace podere::evaluate {

/// A sort key in the upper half, anything that belongs to it in the lower half.
using Record = std::uint64_t;
inline std::uint32_t key_of(Record record) { return static_cast<std::uint32_t>(record >> 32); }

/// Sorts by key; records of equal key keep their order. Local. Three passes of 11 bits.
void radix_sort(std::vector<Record>& records);

/// Sorts each of `lists` by key over all ranks: then each rank holds a sorted run of every list, keys on rank r lie
/// below those on rank r + 1, and records of equal key, of any list, are on one rank. Runs are about even in number
/// as far as equal keys allow. Collective: one all_gather of about 64 p keys in all, one all_to_all of each list.
/// Source: H. Shi, J. Schaeffer, "Parallel sorting by regular sampling", JPDC 14 (1992).
void sample_sort(const comm::Communicator& comm, std::span<std::vector<Record>> lists);

}  // namespace podere::evaluate
