// What follows from a study: all points beside each other, measured and modeled, and what others reached.
#pragma once

#include <optional>
#include <vector>

#include "podere/scaling/model.h"
#include "podere/scaling/papers.h"
#include "podere/scaling/suggest.h"

namespace podere::scaling {

struct Wanted {
  std::vector<int> modeled_cores = {};  ///< cores in all of points to model; empty: none
  std::optional<Network> network = {};  ///< between their executors; unset: as between those measured
  bool suggests = false;
};

struct Conclusions {
  std::vector<Point> points;  ///< by cores in all, then by executors
  std::optional<Model> model;
  std::optional<Suggestion> suggestion;
  std::optional<PaperFigure> papers;
};

/// Points are modeled only where check_can_model() allows it and the study has a network.
Conclusions conclude(const Study& study, const Wanted& wanted);

/// The study with "points" of both kinds, "model", "suggestion" and "papers", each null where there is none.
Json to_json(const Study& study, const Conclusions& conclusions);

}  // namespace podere::scaling
