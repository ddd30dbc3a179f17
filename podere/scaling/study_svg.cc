#include "podere/scaling/study_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "podere/base/markup.h"

namespace podere::scaling {
namespace {

constexpr double kSide = 320;  // of a panel
constexpr double kLeft = 70;
constexpr double kTop = 78;
constexpr double kMostPercent = 1000;
constexpr double kGap = 84;  // between the panels
constexpr double kWidth = kLeft + 2 * kSide + kGap + 24;
constexpr double kHeight = kTop + kSide + 56;
// Okabe and Ito's colors for the color-blind.
constexpr std::array<const char*, 7> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#e69f00", "#56b4e9", "#000000"};

/// Where numbers lie in a panel.
struct Panel {
  double left;
  double low;   // of y
  double high;  // of y
  bool is_logarithmic;
  double most_cores;

  double x(double cores) const {
    return left + kSide * (most_cores > 1 ? 0.05 + 0.9 * std::log(cores) / std::log(most_cores) : 0.5);
  }
  double y(double value) const {
    const double share = is_logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return kTop + kSide * (1 - std::clamp(share, 0.0, 1.0));
  }
};

std::vector<double> ticks_of(const Panel& panel) {
  std::vector<double> ticks;
  if (!panel.is_logarithmic) {
    constexpr double kStep = 20;  // of percent
    for (double tick = panel.low; tick <= panel.high; tick += kStep) ticks.push_back(tick);
    return ticks;
  }
  for (double power = std::pow(10, std::floor(std::log10(panel.low))); power <= panel.high; power *= 10) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit * power >= panel.low && digit * power <= panel.high) ticks.push_back(digit * power);
    }
  }
  return ticks;
}

std::string axes(const Panel& panel, const std::vector<Point>& points, const std::string& title,
                 const std::string& unit) {
  std::string svg = fmt::format("<text class=\"panel\" x=\"{:g}\" y=\"{:g}\" text-anchor=\"middle\">{}</text>\n",
                                panel.left + kSide / 2, kTop - 12, title);
  for (const double tick : ticks_of(panel)) {
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.2f} {1:.2f}h{2:g}\"/>\n"
        "<text x=\"{3:.2f}\" y=\"{1:.2f}\" dy=\"0.35em\" text-anchor=\"end\">{4:.3g}{5}</text>\n",
        panel.left, panel.y(tick), kSide, panel.left - 8, tick, unit);
  }
  int last = 0;
  for (const Point& point : points) {  // rising
    if (point.total_cores() == last) continue;
    last = point.total_cores();
    svg += fmt::format(
        "<path class=\"grid\" d=\"M{0:.2f} {1:g}v{2:g}\"/>\n"
        "<text x=\"{0:.2f}\" y=\"{3:g}\" text-anchor=\"middle\">{4}</text>\n",
        panel.x(last), kTop, kSide, kTop + kSide + 20, last);
  }
  return svg + fmt::format(
                   "<rect class=\"frame\" x=\"{:.2f}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>\n"
                   "<text x=\"{:.2f}\" y=\"{:g}\" text-anchor=\"middle\">cores in all</text>\n",
                   panel.left, kTop, kSide, kSide, panel.left + kSide / 2, kTop + kSide + 44);
}

/// "M1 2L3 4" through the points that `are_wanted`.
template <typename Value, typename Wanted>
std::string path_through(const Panel& panel, const std::vector<Point>& points, const Value& value,
                         const Wanted& are_wanted) {
  std::string path;
  for (const Point& point : points) {
    if (!are_wanted(point)) continue;
    fmt::format_to(std::back_inserter(path), "{}{:.2f} {:.2f}", path.empty() ? 'M' : 'L', panel.x(point.total_cores()),
                   panel.y(value(point, point.seconds)));
  }
  return path;
}

/// A line with marks, and bars for the spread. Modeled points are hollow, and a dotted line leads to them from the
/// last one that was measured.
template <typename Value>
std::string line(const Panel& panel, const std::vector<Point>& points, const char* color, const Value& value) {
  int last_measured = 0;
  bool has_modeled = false;
  std::string marks;
  for (const Point& point : points) {
    const double x = panel.x(point.total_cores());
    const double y = panel.y(value(point, point.seconds));
    if (point.is_modeled) {
      has_modeled = true;
      fmt::format_to(std::back_inserter(marks),
                     "<circle class=\"hollow\" stroke=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"4\"/>\n", color, x, y);
      continue;
    }
    last_measured = std::max(last_measured, point.total_cores());
    fmt::format_to(std::back_inserter(marks),
                   "<path stroke=\"{0}\" d=\"M{1:.2f} {2:.2f}V{3:.2f}\"/>\n"
                   "<circle fill=\"{0}\" cx=\"{1:.2f}\" cy=\"{4:.2f}\" r=\"4\"/>\n",
                   color, x, panel.y(value(point, point.least_seconds)), panel.y(value(point, point.most_seconds)), y);
  }
  std::string svg;
  if (has_modeled) {
    svg += fmt::format("<path class=\"modeled\" stroke=\"{}\" d=\"{}\"/>\n", color,
                       path_through(panel, points, value, [&](const Point& point) {
                         return point.is_modeled || point.total_cores() == last_measured;
                       }));
  }
  const auto is_measured = [](const Point& point) { return !point.is_modeled; };
  if (last_measured > 0) {
    svg += fmt::format("<path class=\"line\" stroke=\"{}\" d=\"{}\"/>\n", color,
                       path_through(panel, points, value, is_measured));
  }
  return svg + marks;
}

/// Seconds that the base would take on as many cores.
double ideal_seconds(const Study& study, const Point& base, double cores) {
  return study.weak_rows ? base.seconds : base.seconds * base.total_cores() / cores;
}

std::string legend(const std::map<int, std::vector<Point>>& lines, bool has_modeled) {
  std::string svg;
  double x = kLeft;
  std::size_t i = 0;
  for (const auto& [cores, points] : lines) {
    svg += fmt::format(
        "<circle fill=\"{}\" cx=\"{:g}\" cy=\"46\" r=\"4\"/><text x=\"{:g}\" y=\"50\">{} core{} each</text>\n",
        kColors[i++ % kColors.size()], x, x + 10, cores, cores == 1 ? "" : "s");
    x += 110;
  }
  svg += fmt::format("<path class=\"ideal\" d=\"M{:g} 46h22\"/><text x=\"{:g}\" y=\"50\">ideal</text>\n", x, x + 28);
  if (!has_modeled) return svg;
  x += 80;
  return svg + fmt::format(
                   "<path class=\"modeled\" stroke=\"#333\" d=\"M{0:g} 46h22\"/>"
                   "<circle class=\"hollow\" stroke=\"#333\" cx=\"{1:g}\" cy=\"46\" r=\"4\"/>"
                   "<text x=\"{2:g}\" y=\"50\">modeled, not measured</text>\n",
                   x, x + 11, x + 28);
}

}  // namespace

std::string study_svg(const Study& study, const std::vector<Point>& points) {
  std::string svg = fmt::format(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" role="img">
<title>{2}</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #333; }}
.title {{ font-size: 15px; font-weight: 600; fill: #111; }}
.panel {{ font-weight: 600; }}
.grid {{ stroke: #e4e4e4; }}
.frame {{ fill: none; stroke: #888; }}
.line {{ fill: none; stroke-width: 2.5; }}
.modeled {{ fill: none; stroke-width: 1.5; stroke-dasharray: 2 4; }}
.hollow {{ fill: #fff; stroke-width: 1.5; }}
.ideal {{ fill: none; stroke: #999; stroke-dasharray: 5 5; }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
<text class="title" x="16" y="26">{2}</text>
)svg",
      kWidth, kHeight,
      markup_text(fmt::format("{}{}", study.command,
                              study.weak_rows ? fmt::format(" ({} rows for each core)", *study.weak_rows) : "")));
  if (points.empty()) return svg + "<text x=\"16\" y=\"80\">Nothing was measured yet.</text>\n</svg>\n";

  std::map<int, std::vector<Point>> lines;
  double least = points.front().seconds;
  double most = points.front().seconds;
  double best = 1;
  bool has_modeled = false;
  for (const Point& point : points) {
    lines[point.cores].push_back(point);
    const double point_least = point.is_modeled ? point.seconds : point.least_seconds;
    least = std::min({least, point_least, ideal_seconds(study, points.front(), point.total_cores())});
    most = std::max({most, point.seconds, point.most_seconds});
    best = std::max(best, point.efficiency * point.seconds / point_least);
    has_modeled = has_modeled || point.is_modeled;
  }
  const double most_cores = points.back().total_cores();
  const Panel seconds{kLeft, least / 1.2, most * 1.2, true, most_cores};
  const Panel efficiency{kLeft + kSide + kGap, 0, std::clamp(10 * std::ceil(10 * best), 100.0, kMostPercent), false,
                         most_cores};
  svg +=
      legend(lines, has_modeled) + axes(seconds, points, "seconds", "") + axes(efficiency, points, "efficiency", " %");
  std::string ideal;
  for (const Point& point : points) {
    const double x = point.total_cores();
    fmt::format_to(std::back_inserter(ideal), "{}{:.2f} {:.2f}", ideal.empty() ? 'M' : 'L', seconds.x(x),
                   seconds.y(ideal_seconds(study, points.front(), x)));
  }
  svg += fmt::format("<path class=\"ideal\" d=\"{}\"/>\n<path class=\"ideal\" d=\"M{:.2f} {:.2f}h{:g}\"/>\n", ideal,
                     efficiency.left, efficiency.y(100), kSide);
  std::size_t i = 0;
  for (const auto& [cores, of_line] : lines) {
    const char* color = kColors[i++ % kColors.size()];
    svg += line(seconds, of_line, color, [](const Point&, double taken) { return taken; });
    svg += line(efficiency, of_line, color,
                [](const Point& point, double taken) { return 100 * point.efficiency * point.seconds / taken; });
  }
  return svg + "</svg>\n";
}

}  // namespace podere::scaling
