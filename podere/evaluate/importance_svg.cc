#include "podere/evaluate/importance_svg.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "podere/base/markup.h"

namespace podere::evaluate {
namespace {

constexpr double kRow = 24;
constexpr double kBar = 15;
constexpr double kTop = 84;
constexpr double kBars = 280;  // from the least to the largest number of a column
constexpr double kValue = 76;  // for the number behind the bar
constexpr double kGap = 24;
constexpr double kCharacter = 7.5;
constexpr std::size_t kLongestName = 40;  // characters

std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// The first characters of a name that has too many.
std::string shortened(const std::string& name) {
  if (width(name) <= kLongestName) return name;
  std::size_t n_characters = 0;
  std::size_t end = 0;
  for (; end < name.size(); ++end) {
    if ((static_cast<unsigned char>(name[end]) & 0xC0) != 0x80 && ++n_characters == kLongestName) break;
  }
  return name.substr(0, end) + "…";
}

/// Where numbers of a column lie between its left and right edge.
struct Scale {
  double left;
  double low;   // 0 or below
  double unit;  // of the picture per number

  Scale(const ImportanceBars& bars, std::size_t n_rows, double at) : left(at), low(0), unit(0) {
    double high = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
      if (!std::isfinite(bars.size[i])) continue;
      const double spread = spread_of(bars, i);
      low = std::min(low, bars.size[i] - spread);
      high = std::max(high, bars.size[i] + spread);
    }
    unit = high > low ? kBars / (high - low) : 0;
  }
  double x_of(double value) const { return left + (value - low) * unit; }
  static double spread_of(const ImportanceBars& bars, std::size_t i) {
    return bars.spread.empty() || !std::isfinite(bars.spread[i]) ? 0 : bars.spread[i];
  }
};

std::string bar(const ImportanceBars& bars, std::size_t i, const Scale& scale) {
  const double y = kTop + kRow * static_cast<double>(i);
  const double middle = y + kRow / 2;
  const double size = bars.size[i];
  if (!std::isfinite(size)) return "";
  const double from = scale.x_of(std::min(size, 0.0));
  const double to = scale.x_of(std::max(size, 0.0));
  std::string svg = fmt::format("<rect class=\"bar\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:g}\"/>\n",
                                from, y + (kRow - kBar) / 2, to - from, kBar);
  const double spread = Scale::spread_of(bars, i);
  if (spread > 0) {
    svg += fmt::format("<path class=\"spread\" d=\"M{:.2f} {:.2f}H{:.2f}\"/>\n", scale.x_of(size - spread), middle,
                       scale.x_of(size + spread));
  }
  return svg + fmt::format("<text class=\"value\" x=\"{:.2f}\" y=\"{:.2f}\" dy=\"0.35em\">{:.3g}</text>\n",
                           std::max(to, scale.x_of(size + spread)) + 6, middle, size);
}

}  // namespace

std::string importance_svg(const std::vector<std::string>& names, const std::vector<ImportanceBars>& columns,
                           const std::string& title, std::size_t most) {
  const std::size_t n_rows = std::min(names.size(), most);
  const std::string omitted = names.size() > n_rows ? fmt::format("and {} more", names.size() - n_rows) : "";
  std::size_t longest = width(omitted);
  for (std::size_t i = 0; i < n_rows; ++i) longest = std::max(longest, width(shortened(names[i])));
  const double left = 24 + kCharacter * static_cast<double>(longest);
  const double total_width = left + static_cast<double>(columns.size()) * (kBars + kValue + kGap) + 8;
  const double bottom = kTop + kRow * static_cast<double>(n_rows);
  std::string svg = fmt::format(
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" role="img">
<title>{2}</title>
<style>
text {{ font: 13px system-ui, sans-serif; fill: #333; }}
.title {{ font-size: 16px; font-weight: 600; fill: #111; }}
.caption {{ font-weight: 600; fill: #14508c; }}
.value {{ font-size: 12px; fill: #666; }}
.bar {{ fill: #1f77b4; }}
.spread {{ stroke: #111; stroke-width: 1.5; }}
.zero {{ stroke: #888; }}
</style>
<rect width="100%" height="100%" fill="#fff"/>
<text class="title" x="16" y="30">{2}</text>
)svg",
      total_width, bottom + 40, markup_text(title));
  for (std::size_t i = 0; i < n_rows; ++i) {
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" dy=\"0.35em\" text-anchor=\"end\">{}</text>\n", left,
                       kTop + kRow * (static_cast<double>(i) + 0.5), markup_text(shortened(names[i])));
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Scale scale(columns[c], n_rows, left + 12 + static_cast<double>(c) * (kBars + kValue + kGap));
    svg += fmt::format("<text class=\"caption\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", scale.left, kTop - 18,
                       markup_text(columns[c].caption));
    for (std::size_t i = 0; i < n_rows; ++i) svg += bar(columns[c], i, scale);
    svg += fmt::format("<path class=\"zero\" d=\"M{0:.2f} {1:g}V{2:g}\"/>\n", scale.x_of(0), kTop - 4, bottom + 4);
  }
  if (!omitted.empty()) {
    svg += fmt::format("<text x=\"{:g}\" y=\"{:g}\" text-anchor=\"end\">{}</text>\n", left, bottom + 20, omitted);
  }
  return svg + "</svg>\n";
}

}  // namespace podere::evaluate
