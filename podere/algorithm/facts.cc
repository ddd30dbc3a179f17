#include "podere/algorithm/facts.h"

#include <string>

#include "podere/base/json.h"

namespace podere::algorithm {

Json communication_facts(const comm::TrafficByKind& traffic, const comm::Communicator& comm) {
  auto facts = Json::object();
  for (std::size_t k = 0; k < comm::kCollectives; ++k) {
    if (traffic[k].calls == 0) continue;
    facts[std::string(comm::to_string(static_cast<comm::Collective>(k)))] = {
        {"calls", traffic[k].calls},
        {"bytes", comm.all_reduce(traffic[k].bytes, comm::Reduction::kMax)},
        {"seconds", comm.all_reduce(traffic[k].seconds, comm::Reduction::kMax)}};
  }
  return facts;
}

}  // namespace podere::algorithm
