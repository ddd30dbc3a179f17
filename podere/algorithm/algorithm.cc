#include "podere/algorithm/algorithm.h"

#include "podere/base/error.h"

namespace podere::algorithm {

void Trainer::check_base(const Model& base, const std::string& name) const {
  throw_input_error("{}: is {}; training of {} does not start from a model", name, base.what(), objective());
}

std::unique_ptr<const Checkpoint> Trainer::read_checkpoint(const std::string& /*text*/, const std::string& name) const {
  throw_input_error("{}: training of {} keeps no checkpoints", name, objective());
}

std::unique_ptr<const Model> Algorithm::blend(const std::vector<std::unique_ptr<const Model>>& /*models*/,
                                              const std::vector<double>& /*weights*/) const {
  throw_error("models of {} cannot be blended", name());
}

}  // namespace podere::algorithm
