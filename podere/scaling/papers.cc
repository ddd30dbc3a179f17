#include "podere/scaling/papers.h"

#include <fmt/format.h>

#include <array>

namespace podere::scaling {

std::optional<PaperFigure> paper_figure_of(const std::string& command) {
  // docs/scaling.md says where they come from.
  static const std::array<PaperFigure, 3> kFigures = {
      PaperFigure{"podere train gbt", "GBT", 1, 81},
      PaperFigure{"podere train mlp", "MPC", 1, 74},
      PaperFigure{"podere train nn", "NN", 14, 81},
  };
  for (const PaperFigure& figure : kFigures) {
    if (command.starts_with(figure.command + " ")) return figure;
  }
  return std::nullopt;
}

std::string in_words(const PaperFigure& figure) {
  return fmt::format(
      "For orientation: {} in the course's papers took {} min on {} cores of a Spark cluster, with {} % efficiency; "
      "data "
      "and machines were others.",
      figure.model, figure.minutes, figure.cores, figure.efficiency_percent);
}

Json to_json(const PaperFigure& figure) {
  return {{"model", figure.model},
          {"minutes", figure.minutes},
          {"cores", figure.cores},
          {"efficiency", figure.efficiency_percent / 100.0},
          {"text", in_words(figure)}};
}

}  // namespace podere::scaling
