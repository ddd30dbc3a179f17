#include "podere/graph/plan.h"

#include "podere/base/error.h"
#include "podere/graph/lowering.h"

namespace podere::graph {

Plan::Plan(const Network& network, const PlanOptions& options) {
  try {
    program_ = std::make_shared<const Program>(place(Lowering(network.graph(), options), options));
  } catch (const InputError& error) {
    throw_input_error("'{}': {}", network.graph().file, error.what());
  }
}

const Shape& Plan::input() const { return program_->input; }
const std::vector<Port>& Plan::outputs() const { return program_->outputs; }
std::size_t Plan::weight_bytes() const { return program_->constants.size() * sizeof(float); }
std::size_t Plan::multiply_adds() const { return program_->multiply_adds; }

}  // namespace podere::graph
