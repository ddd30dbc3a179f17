// Dense networks as an entry of the table of algorithms.
#pragma once

#include <cstddef>
#include <memory>

#include "podere/algorithm/algorithm.h"
#include "podere/neural/model.h"

namespace podere::neural {

/// What jobs choose about a network.
struct JobOptions {
  Options network;
  std::size_t max_steps = 0;         ///< the run ends after so many steps, and keeps a checkpoint; 0: after all epochs
  std::size_t checkpoint_steps = 0;  ///< a checkpoint is kept after every so many steps as well; 0: by time alone

  static void visit_fields(auto& self, auto&& visit) {
    Options::visit_fields(self.network, visit);
    visit("max_steps", self.max_steps);
    visit("checkpoint_steps", self.checkpoint_steps);
  }
};

/// Called "network"; its options are JobOptions.
const algorithm::Algorithm& dense_networks();

std::unique_ptr<const algorithm::Model> as_model(Model model);
/// The network in a model; null if it is of another algorithm.
const Model* network_of(const algorithm::Model& model);

}  // namespace podere::neural
