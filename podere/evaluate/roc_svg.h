// The ROC curve as a picture.
#pragma once

#include <string>

#include "podere/evaluate/classification.h"

namespace podere::evaluate {

/// A self-contained SVG picture of the curve: axes, the diagonal of guessing, the area in words. `title` is UTF-8 text,
/// not markup. A curve without points is drawn as axes and a sentence. Local.
std::string roc_svg(const Roc& roc, const std::string& title);

}  // namespace podere::evaluate
