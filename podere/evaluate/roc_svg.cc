#include "podere/evaluate/roc_svg.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

#include "podere/base/markup.h"

namespace podere::evaluate {
namespace {

// The plot is a square of kSide units; rates of 0 and 1 are its edges.
constexpr double kSide = 400;
constexpr double kLeft = 64;
constexpr double kPlotTop = 48;
constexpr double kWidth = kLeft + kSide + 24;
constexpr double kHeight = kPlotTop + kSide + 56;

double x_of(double rate) { return kLeft + kSide * rate; }
double y_of(double rate) { return kPlotTop + kSide * (1 - rate); }

std::string head(const std::string& title, const std::string& area) {
  return fmt::format(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">
<title>{2}. {3}</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #333; }}
.title {{ font-size: 16px; font-weight: 600; fill: #111; }}
.area {{ font-size: 15px; font-weight: 600; fill: #14508c; }}
.grid {{ stroke: #e4e4e4; }}
.frame {{ fill: none; stroke: #888; }}
.guess {{ stroke: #999; stroke-dasharray: 5 5; }}
.under {{ fill: #1f77b4; fill-opacity: 0.1; }}
.curve {{ fill: none; stroke: #1f77b4; stroke-width: 2.5; stroke-linejoin: round; }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
<text class="title" x="{4}" y="30" text-anchor="middle">{2}</text>
)svg",
      kWidth, kHeight, markup_text(title), area, kLeft + kSide / 2);
}

std::string axes() {
  std::string svg;
  for (int i = 0; i <= 5; ++i) {
    const double rate = i / 5.0;
    svg += fmt::format(R"svg(<path class="grid" d="M{0:g} {2:g}V{3:g}M{4:g} {1:g}H{5:g}"/>
<text x="{0:g}" y="{6:g}" text-anchor="middle">{8:.1f}</text>
<text x="{7:g}" y="{1:g}" dy="0.35em" text-anchor="end">{8:.1f}</text>
)svg",
                       x_of(rate), y_of(rate), y_of(0), y_of(1), x_of(0), x_of(1), y_of(0) + 20, x_of(0) - 8, rate);
  }
  svg += fmt::format(R"svg(<path class="guess" d="M{0:g} {1:g}L{2:g} {3:g}"/>
<rect class="frame" x="{0:g}" y="{3:g}" width="{4:g}" height="{4:g}"/>
<text x="{5:g}" y="{6:g}" text-anchor="middle">false positive rate</text>
<text transform="translate(20 {7:g}) rotate(-90)" text-anchor="middle">true positive rate</text>
)svg",
                     x_of(0), y_of(0), x_of(1), y_of(1), kSide, x_of(0.5), y_of(0) + 44, y_of(0.5));
  return svg;
}

}  // namespace

std::string roc_svg(const Roc& roc, const std::string& title) {
  const bool is_curve = !roc.points.empty() && std::isfinite(roc.auc);
  const std::string area =
      is_curve ? fmt::format("Area under the curve {:.4f}", roc.auc) : std::string("No curve: one class has no weight");
  std::string svg = head(title, area) + axes();
  if (is_curve) {
    std::string path;
    for (const RocPoint& point : roc.points) {
      fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", path.empty() ? 'M' : 'L',
                     x_of(point.false_positive_rate), y_of(point.true_positive_rate));
    }
    svg += fmt::format("<path class=\"under\" d=\"{0}V{1:g}H{2:g}Z\"/>\n<path class=\"curve\" d=\"{0}\"/>\n", path,
                       y_of(0), x_of(0));
  }
  return svg + fmt::format("<text class=\"area\" x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}</text>\n</svg>\n",
                           x_of(1) - 14, y_of(0) - 16, area);
}

}  // namespace podere::evaluate
