// What others reached with the same kinds of models.
#pragma once

#include <optional>
#include <string>

#include "podere/base/json.h"

namespace podere::scaling {

/// A figure of the papers of the course that Podere follows: Spark on 25 cores, with data and machines of their own.
struct PaperFigure {
  std::string command;  ///< of Podere that trains such a model
  std::string model;    ///< as the papers call it
  int minutes = 0;
  int efficiency_percent = 0;
  int cores = 25;
};

/// Nothing for a command, "podere train gbt ...", whose like the papers did not measure.
std::optional<PaperFigure> paper_figure_of(const std::string& command);

std::string in_words(const PaperFigure& figure);
Json to_json(const PaperFigure& figure);

}  // namespace podere::scaling
