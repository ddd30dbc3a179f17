// How a command scales, as a picture.
#pragma once

#include <string>
#include <vector>

#include "podere/scaling/study.h"

namespace podere::scaling {

/// A self-contained SVG picture: seconds, and efficiency, over the cores in all, a line for each number of cores of an
/// executor, with what was measured between its least and its most; ideal scaling as a dashed line. `points`: of the
/// study, and modeled ones, which are hollow, with dotted lines; by cores in all, the first one measured.
std::string study_svg(const Study& study, const std::vector<Point>& points);

}  // namespace podere::scaling
