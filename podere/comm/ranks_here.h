// Which ranks share this machine.
#pragma once

#include <vector>

#include "podere/comm/communicator.h"

namespace podere::comm {

/// The ranks that run on this machine, rising, this one among them. Containers of one machine have names of their own,
/// as they have disks and limits of their own: they count as machines. Collective: an all_gather of 8 bytes.
std::vector<int> ranks_here(const Communicator& comm);

}  // namespace podere::comm
