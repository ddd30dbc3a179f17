#include "podere/algorithm/facts.h"

#include <algorithm>
#include <cmath>
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

Json trained_as_long(Json options, const std::string& patience, const std::string& length,
                     const std::vector<Json>& facts, const std::string& length_fact) {
  if (options.value(patience, 0) == 0 || facts.empty()) return options;
  double sum = 0;
  for (const Json& of_one : facts) sum += of_one.at(length_fact).get<double>();
  options[length] = std::max(1L, std::lround(sum / static_cast<double>(facts.size())));
  options[patience] = 0;
  return options;
}

}  // namespace podere::algorithm
