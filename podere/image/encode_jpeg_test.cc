#include "podere/image/encode_jpeg.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "podere/base/error.h"
#include "podere/image/decode.h"

namespace podere::image {
namespace {

/// Smooth, so that little is lost; of several channels colored.
Picture ramp(std::uint32_t width, std::uint32_t height, int n_channels) {
  Picture picture(width, height, n_channels);
  const auto n = static_cast<std::size_t>(n_channels);
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::size_t i = 0; i < picture.row_bytes(); ++i) {
      picture.row(y)[i] = static_cast<std::uint8_t>(y + i / n + 20 * (i % n));
    }
  }
  return picture;
}

TEST(EncodeJpeg, ComesBackAsNearlyTheSamePicture) {
  for (const int n_channels : {kGray, kRgb}) {
    const Picture picture = ramp(61, 33, n_channels);
    const Picture again = decode(encode_jpeg(picture, 95), "again.jpg");
    ASSERT_EQ(again.width, 61U);
    ASSERT_EQ(again.height, 33U);
    ASSERT_EQ(again.n_channels, n_channels);
    for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
      ASSERT_LE(std::abs(int{picture.pixels[i]} - int{again.pixels[i]}), 12) << "value " << i;
    }
  }
}

TEST(EncodeJpeg, LowerQualityTakesFewerBytes) {
  const Picture picture = ramp(120, 100, kGray);
  EXPECT_LT(encode_jpeg(picture, 30).size(), encode_jpeg(picture, 95).size());
}

TEST(EncodeJpeg, TakesOnePixelAndRefusesWhatIsTooWide) {
  EXPECT_EQ(decode(encode_jpeg(Picture(1, 1, kRgb), 80), "dot.jpg").pixels, std::vector<std::uint8_t>(1, 0));
  EXPECT_THROW(encode_jpeg(Picture(kMostJpegSide + 1, 1, kGray), 80), Error);
}

}  // namespace
}  // namespace podere::image
