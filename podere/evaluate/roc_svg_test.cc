#include "podere/evaluate/roc_svg.h"

#include <gtest/gtest.h>

#include <limits>

namespace podere::evaluate {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Roc kCurve = {0.75, {{1e9, 0, 0}, {0.5, 0.25, 0.5}, {0, 1, 1}}};

TEST(RocSvg, DrawsTheCurveFromCornerToCornerAndShowsTheArea) {
  const std::string svg = roc_svg(kCurve, "Higgs");
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_TRUE(contains(svg, "class=\"curve\" d=\"M64.00 448.00L164.00 248.00L464.00 48.00\""));
  EXPECT_TRUE(contains(svg, ">Area under the curve 0.7500</text>"));
  EXPECT_TRUE(contains(svg, ">false positive rate</text>"));
  EXPECT_TRUE(contains(svg, ">true positive rate</text>"));
  EXPECT_TRUE(contains(svg, ">Higgs</text>"));
}

TEST(RocSvg, NeverTakesTheTitleForMarkup) {
  const std::string svg = roc_svg(kCurve, "<script>a && \"b\"</script>\x01");
  EXPECT_FALSE(contains(svg, "<script>"));
  EXPECT_TRUE(contains(svg, "&lt;script&gt;a &amp;&amp; &quot;b&quot;&lt;/script&gt; "));
  EXPECT_FALSE(contains(svg, "\x01"));
}

TEST(RocSvg, SaysWhyThereIsNoCurve) {
  const std::string svg = roc_svg({std::numeric_limits<double>::quiet_NaN(), {}}, "t");
  EXPECT_TRUE(contains(svg, "No curve: one class has no weight"));
  EXPECT_FALSE(contains(svg, "class=\"curve\""));
}

}  // namespace
}  // namespace podere::evaluate
