#include "podere/evaluate/importance_svg.h"

#include <gtest/gtest.h>

#include <limits>

#include "podere/base/test_numbers.h"

namespace podere::evaluate {
namespace {

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(ImportanceSvg, DrawsABarPerFeatureAndColumnAsLongAsItsSize) {
  const std::string svg = importance_svg(
      {"mass", "angle"}, {{"mean |SHAP|", {4, 1}, {}}, {"fall of AUC", {0.5, 0.25}, {}}}, "What matters", 20);
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "class=\"bar\""), 4U);
  EXPECT_EQ(count(svg, "width=\"280.00\""), 2U);
  EXPECT_EQ(count(svg, "width=\"140.00\""), 1U);
  EXPECT_EQ(count(svg, "width=\"70.00\""), 1U);
  for (const char* text : {">mass<", ">angle<", ">mean |SHAP|<", ">fall of AUC<", ">What matters<", ">0.25<"})
    EXPECT_TRUE(has_part(svg, text)) << text;
}

TEST(ImportanceSvg, BarsBelowZeroBeginLeftOfIt) {
  const std::string svg = importance_svg({"a", "b"}, {{"fall", {3, -1}, {1, kNaN}}}, "t", 20);
  // 5 numbers over 280 units, from -1 to 4; the zero line is at 24 + 7.5 + 12 + 56.
  EXPECT_TRUE(has_part(svg, "x=\"99.50\" y=\"88.50\" width=\"168.00\""));
  EXPECT_TRUE(has_part(svg, "x=\"43.50\" y=\"112.50\" width=\"56.00\""));
  EXPECT_EQ(count(svg, "class=\"spread\""), 1U);
  EXPECT_TRUE(has_part(svg, "class=\"spread\" d=\"M211.50 96.00H323.50\""));
}

TEST(ImportanceSvg, ShowsTheFirstAndSaysHowManyAreLeftOut) {
  const std::string svg = importance_svg({"a", "b", "c"}, {{"x", {3, 2, 1}, {}}}, "t", 2);
  EXPECT_EQ(count(svg, "class=\"bar\""), 2U);
  EXPECT_TRUE(has_part(svg, ">and 1 more<"));
  EXPECT_TRUE(has_part(svg, "<text x=\"99\"")) << "\"and 1 more\" has room left of the bars";  // 24 + 10 * 7.5
}

TEST(ImportanceSvg, NeverTakesNamesForMarkupAndCutsLongOnes) {
  const std::string svg = importance_svg({"<b>", std::string(60, 'x')}, {{"<i>", {0, kNaN}, {}}}, "<u>", 20);
  for (const char* markup : {"<b>", "<i>", "<u>", "nan"}) EXPECT_FALSE(has_part(svg, markup)) << markup;
  EXPECT_TRUE(has_part(svg, std::string(39, 'x') + "…"));
  EXPECT_FALSE(has_part(svg, std::string(40, 'x')));
}

}  // namespace
}  // namespace podere::evaluate
