// What features do for a model, as a picture.
#pragma once

#include <string>
#include <vector>

namespace podere::evaluate {

/// One way to measure importance.
struct ImportanceBars {
  std::string caption;         ///< what the bars show, with its unit
  std::vector<double> size;    ///< [n_features]; may be negative
  std::vector<double> spread;  ///< drawn as a line of +- so much; empty, or [n_features] with NaN for unknown
};

/// A self-contained SVG picture: the features' names, then a column of horizontal bars for each of `columns`, all in
/// the order of `names`, of which at most `most` are shown; a line says how many are left out. `title` and `names` are
/// UTF-8 text, not markup. Local.
std::string importance_svg(const std::vector<std::string>& names, const std::vector<ImportanceBars>& columns,
                           const std::string& title, std::size_t most);

}  // namespace podere::evaluate
