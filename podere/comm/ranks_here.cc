#include "podere/comm/ranks_here.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace podere::comm {

std::vector<int> ranks_here(const Communicator& comm) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  const std::uint64_t here = std::hash<std::string_view>()(name.data());
  const std::vector<std::uint64_t> machines = comm.all_gather(here);
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.size(); ++rank) {
    if (machines[static_cast<std::size_t>(rank)] == here) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace podere::comm
