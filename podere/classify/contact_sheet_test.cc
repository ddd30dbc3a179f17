#include "podere/classify/contact_sheet.h"

#include <gtest/gtest.h>

#include <limits>

#include "podere/base/base64.h"
#include "podere/image/decode.h"

namespace podere::classify {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// `text` from `begin` to the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from + begin.size(), text.find(end, from + begin.size()) - from - begin.size());
}

/// Pictures 0, 1, ... of two classes by turns. The score of picture i is 0.5 + i / 10,000; every tenth is damaged.
SheetSource source_of(std::size_t n) {
  const auto is_damaged = [](std::size_t i) { return i % 10 == 9; };
  SheetSource source;
  source.title = "micrographs";
  source.n_pictures = n;
  source.row = [=](std::size_t i) {
    const std::string name = "p" + std::to_string(i) + ".tif";
    if (is_damaged(i)) return SheetRow{name, "", 0, name + ": is damaged"};
    return SheetRow{name, i % 2 == 0 ? "tips" : "films", 0.5F + static_cast<float>(i) / 10000, ""};
  };
  source.picture = [=](std::size_t i) {
    EXPECT_FALSE(is_damaged(i)) << "a picture that may end its decoder is not decoded again";
    return image::Picture(400, 100, image::kGray);
  };
  return source;
}

TEST(ContactSheet, ShowsPicturesEvenlyTheLeastSureAndWhyOthersAreNotThere) {
  const std::string html = contact_sheet(source_of(1000));
  const std::string evenly = between(html, "<h2>Pictures</h2>", "<h2>");
  EXPECT_EQ(count(evenly, "<img "), kMostSpread);
  EXPECT_EQ(count(evenly, ">p0.tif<"), 1U);
  EXPECT_EQ(count(evenly, ">p983.tif<"), 1U) << "59 / 60 of 900";
  EXPECT_LT(evenly.rfind(">films<"), evenly.find(">tips<")) << "sorted by class";
  const std::string unsure = between(html, "<h2>Least sure</h2>", "<h2>");
  EXPECT_EQ(count(unsure, "<img "), kMostUnsure);
  for (const int i : {0, 1, 8, 10, 11, 12}) EXPECT_EQ(count(unsure, ">p" + std::to_string(i) + ".tif<"), 1U) << i;
  EXPECT_LT(unsure.find(">p0.tif<"), unsure.find(">p1.tif<"));
  const std::string faults = between(html, "<h2>Not used</h2>", "</body>");
  EXPECT_EQ(count(faults, "<li>"), kMostFaults);
  EXPECT_EQ(count(faults, "<li>p9.tif: is damaged</li>"), 1U);
  EXPECT_NE(faults.find("12 of 100"), std::string::npos);
}

TEST(ContactSheet, CountsTheClassesTheMostFirst) {
  const std::string classes = between(contact_sheet(source_of(1000)), "<h2>Classes</h2>", "<h2>");
  EXPECT_LT(classes.find(">tips</td><td class=\"number\">500<"), classes.find(">films</td><td class=\"number\">400<"));
  EXPECT_NE(classes.find("<span style=\"width:56%\"></span></span> 56 %"), std::string::npos);
}

TEST(ContactSheet, ThumbnailsAreJpegsThatKeepTheirProportions) {
  const std::string html = contact_sheet(source_of(1));
  EXPECT_NE(html.find("width=\"200\" height=\"50\""), std::string::npos);
  const std::vector<std::byte> bytes = from_base64(between(html, "data:image/jpeg;base64,", "\""));
  const image::Picture thumbnail =
      image::decode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "thumbnail");
  EXPECT_EQ(thumbnail.width, 200U);
  EXPECT_EQ(thumbnail.height, 50U);
}

TEST(ContactSheet, PicturesOfAnyProportionsFit) {
  SheetSource source = source_of(4);
  source.picture = [](std::size_t i) {
    return std::vector{image::Picture(1, 1, image::kRgb), image::Picture(100000, 1, image::kGray),
                       image::Picture(1, 70000, image::kRgb), image::Picture(30, 40, image::kRgb)}
        .at(i);
  };
  const std::string html = contact_sheet(source);
  for (const char* size : {"width=\"1\" height=\"1\"", "width=\"200\" height=\"1\"", "width=\"1\" height=\"150\"",
                           "width=\"30\" height=\"40\""}) {
    EXPECT_EQ(count(html, size), 2U) << size;
  }
}

TEST(ContactSheet, LeavesOutAPictureThatCannotBeReadAnyMore) {
  SheetSource source = source_of(3);
  source.picture = [](std::size_t i) {
    return i == 1 ? std::nullopt : std::optional(image::Picture(4, 3, image::kGray));
  };
  const std::string html = contact_sheet(source);
  EXPECT_EQ(count(html, "<img "), 4U);
  EXPECT_EQ(count(html, "p1.tif"), 0U);
}

TEST(ContactSheet, ReadsEachPictureOnceInTheOrderOfTheList) {
  SheetSource source = source_of(1000);
  std::vector<std::size_t> read;
  source.picture = [&](std::size_t i) {
    read.push_back(i);
    return image::Picture(4, 3, image::kGray);
  };
  contact_sheet(source);
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));
  EXPECT_EQ(std::adjacent_find(read.begin(), read.end()), read.end());
  EXPECT_LE(read.size(), kMostSpread + kMostUnsure);
}

TEST(ContactSheet, NeverTakesNamesForMarkup) {
  SheetSource source = source_of(2);
  source.title = "<b>\"title\"";
  source.facts = {{"<i>model</i>", "a&b\xff.onnx"}};
  source.row = [](std::size_t i) {
    if (i == 1) return SheetRow{"x", "", 0, "\"><script>: is damaged"};
    return SheetRow{"\"><script>\xff", "<u>", std::numeric_limits<float>::quiet_NaN(), ""};
  };
  source.picture = [](std::size_t) { return image::Picture(4, 3, image::kGray); };
  const std::string html = contact_sheet(source);
  for (const char* markup : {"<b>", "<i>", "<u>", "<script", "\">&lt;script&gt;\"", "\xff", "nan"}) {
    EXPECT_EQ(count(html, markup), 0U) << markup;
  }
  EXPECT_EQ(count(html, "no score"), 2U);
}

TEST(ContactSheet, HasNoEmptyBlocks) {
  SheetSource source = source_of(10);
  EXPECT_EQ(count(contact_sheet(source), "<h2>Not used</h2>"), 1U);
  source.n_pictures = 9;
  EXPECT_EQ(count(contact_sheet(source), "<h2>Not used</h2>"), 0U);
  source.row = [](std::size_t) { return SheetRow{"x", "", 0, "x: is damaged"}; };
  const std::string html = contact_sheet(source);
  EXPECT_EQ(count(html, "<h2>"), 1U);
  EXPECT_EQ(count(html, "<li>x: is damaged</li>"), 9U);
}

}  // namespace
}  // namespace podere::classify
