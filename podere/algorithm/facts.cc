#include "podere/algorithm/facts.h"

#include <string>

namespace podere::algorithm {

nlohmann::ordered_json communication_facts(const comm::TrafficByKind& traffic, const comm::Communicator& comm) {
  auto facts = nlohmann::ordered_json::object();
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
