// How many executors and cores are worth it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "podere/scaling/model.h"
#include "podere/scaling/study.h"

namespace podere::scaling {

struct Suggestion {
  Shape shape;
  std::vector<std::string> reasons;  ///< in plain words, the first names the shape
};

/// The fastest of the measured points of strong scaling, at least one; of those that are as fast in their fastest run,
/// the one with the fewest executors, then cores, then memory. `model` says where more cores stop paying.
Suggestion suggest(const Study& study, const std::optional<Model>& model);

Json to_json(const Suggestion& suggestion);

}  // namespace podere::scaling
