// One output of models that predict several targets or quantiles.
#pragma once

#include <cstddef>
#include <optional>

#include "podere/tree/model.h"

namespace podere::exchange {

/// Which target or quantile is read, from 0; nothing if none is chosen.
using Target = std::optional<std::size_t>;

/// The one of `n` targets that is read. Throws InputError, with what to do, if there are several and none is chosen,
/// and if the chosen one is not there. `what` names them: "targets".
std::size_t chosen_target(Target target, std::size_t n, const char* what);

/// Throws InputError if one is chosen of a model that has no several.
void check_no_target(Target target);

/// Leaves the margin and the trees of output `k` alone.
void keep_output(tree::Model& model, std::size_t k);

}  // namespace podere::exchange
