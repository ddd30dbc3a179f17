// How a command scales, as a picture.
#pragma once

#include <string>

#include "podere/report/scaling.h"

namespace podere::report {

/// A self-contained SVG picture: seconds, and efficiency, over the cores in all, a line for each number of cores of an
/// executor, with what was measured between its least and its most; ideal scaling as a dashed line.
std::string scaling_svg(const ScaleStudy& study);

}  // namespace podere::report
