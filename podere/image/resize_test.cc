#include "podere/image/resize.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>

#include "podere/base/hash.h"
#include "podere/image/weights.h"

namespace podere::image {
namespace {

Picture make_noise(std::uint32_t width, std::uint32_t height, int n_channels) {
  Picture picture(width, height, n_channels);
  for (std::size_t i = 0; i < picture.pixels.size(); ++i)
    picture.pixels[i] = static_cast<std::uint8_t>(hash64(1, 2, i));
  return picture;
}

std::uint8_t rounded(std::int64_t sum) {
  return static_cast<std::uint8_t>(std::clamp<std::int64_t>((sum + (1 << (kWeightBits - 1))) >> kWeightBits, 0, 255));
}

/// The two passes as they are defined.
Picture resize_plainly(const Picture& picture, std::uint32_t width, std::uint32_t height, Filter filter) {
  const Weights across = find_weights(picture.width, width, {0, width}, filter),
                down = find_weights(picture.height, height, {0, height}, filter);
  const auto n = static_cast<std::uint32_t>(picture.n_channels);
  Picture rows(width, picture.height, picture.n_channels), out(width, height, picture.n_channels);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    for (std::uint32_t i = 0; i < width * n; ++i) {
      std::int64_t sum = 0;
      for (std::uint32_t k = 0; k < across.count[i / n]; ++k) {
        sum += std::int64_t{across.weights[i / n * across.n_weights() + k]} *
               picture.row(y)[(across.first[i / n] + k) * n + i % n];
      }
      rows.row(y)[i] = width == picture.width ? picture.row(y)[i] : rounded(sum);
    }
  }
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t i = 0; i < width * n; ++i) {
      std::int64_t sum = 0;
      for (std::uint32_t k = 0; k < down.count[y]; ++k) {
        sum += std::int64_t{down.weights[y * down.n_weights() + k]} * rows.row(down.first[y] + k)[i];
      }
      out.row(y)[i] = height == picture.height ? rows.row(y)[i] : rounded(sum);
    }
  }
  return out;
}

TEST(Resize, IsThePlainSumOfWeights) {
  for (const Filter filter : {Filter::kBox, Filter::kBilinear, Filter::kBicubic, Filter::kLanczos}) {
    for (const int n_channels : {kGray, kRgb}) {
      for (const auto& [w, h, to_w, to_h] : {std::array{1U, 1U, 5U, 3U},
                                             {97U, 61U, 29U, 29U},
                                             {300U, 7U, 11U, 90U},
                                             {64U, 64U, 64U, 9U},
                                             {5U, 1200U, 5U, 1U},
                                             {2000U, 3U, 1U, 3U},
                                             {33U, 17U, 66U, 34U}}) {
        const Picture picture = make_noise(w, h, n_channels);
        EXPECT_EQ(resize(picture, to_w, to_h, filter), resize_plainly(picture, to_w, to_h, filter))
            << w << 'x' << h << " to " << to_w << 'x' << to_h << " filter " << static_cast<int>(filter);
      }
    }
  }
}

TEST(Resize, HasTheSameBitsOnEveryInstructionSet) {
  const Picture picture = make_noise(205, 31, kRgb);
  int n_targets = 0;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON, HWY_SCALAR}) {
    if (target != HWY_SCALAR && (hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    for (const std::uint32_t width : {3U, 70U, 99U}) {  // weights in one block and in many, and all remainders by four
      EXPECT_EQ(resize(picture, width, 11), resize_plainly(picture, width, 11, Filter::kBilinear))
          << hwy::TargetName(target) << ' ' << width;
    }
    hwy::SetSupportedTargetsForTest(0);
    ++n_targets;
  }
  EXPECT_GT(n_targets, 1);
}

TEST(Resize, WeightsAddUpToOne) {
  for (const Filter filter : {Filter::kBox, Filter::kBilinear, Filter::kBicubic, Filter::kLanczos}) {
    const Weights weights = find_weights(1024, 299, {0, 299}, filter);
    for (std::size_t x = 0; x < 299; ++x) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < weights.n_weights(); ++k) sum += weights.weights[x * weights.n_weights() + k];
      EXPECT_NEAR(static_cast<double>(sum), 1 << kWeightBits, static_cast<double>(weights.n_weights()));
    }
  }
}

TEST(Resize, ShorterSideAndMiddle) {
  for (const int n_channels : {kGray, kRgb}) {
    const Picture wide = make_noise(1024, 768, n_channels);
    const Picture sized = resize(wide, 341, 256);  // int(256 * 1024 / 768)
    const Picture middle = resize_shortest_and_crop(wide, 256, 224, 224);
    ASSERT_EQ(std::pair(middle.width, middle.height), std::pair(224U, 224U));
    for (std::uint32_t y = 0; y < 224; ++y) {
      const std::uint8_t* const row = sized.row(16 + y) + 58 * n_channels;  // round(58.5) = 58: half to even
      EXPECT_TRUE(std::equal(middle.row(y), middle.row(y) + middle.row_bytes(), row)) << y;
    }
  }
  const Picture same = make_noise(300, 256, kGray);  // one side, or both, as they were
  EXPECT_EQ(resize_shortest_and_crop(same, 256, 100, 256).row(3)[0], same.row(3)[100]);
  const Picture larger = resize_shortest_and_crop(make_noise(3, 2, kRgb), 2, 5, 4);
  EXPECT_EQ(std::pair(larger.width, larger.height), std::pair(5U, 4U));
  EXPECT_EQ(larger.row(0)[0], 0);
}

TEST(Resize, NarrowPicturesTakeNoMoreMemory) {
  Picture narrow(1, 5'000'000, kGray);  // at the new size 5 * 10^9 pixels high
  narrow.pixels[2'499'999] = narrow.pixels[2'500'000] = 200;
  const Picture middle = resize_shortest_and_crop(narrow, 1000, 64, 64);
  EXPECT_EQ(middle.pixels, std::vector<std::uint8_t>(64 * 64, 200));
  EXPECT_EQ(resize_to_fit(narrow, 64, 64, Fit::kCrop).pixels, middle.pixels);
}

TEST(Resize, PicturesAreBroughtToASize) {
  const Picture wide = make_noise(100, 50, kGray);
  for (const Fit fit : {Fit::kStretch, Fit::kCrop, Fit::kPad}) {
    for (const auto& [w, h] : {std::pair{32U, 32U}, {64U, 8U}, {8U, 64U}, {100U, 50U}}) {
      const Picture sized = resize_to_fit(wide, w, h, fit);
      EXPECT_EQ(std::pair(sized.width, sized.height), std::pair(w, h));
    }
  }
  EXPECT_EQ(resize_to_fit(wide, 32, 32, Fit::kPad).row(0)[5], 0);
  EXPECT_EQ(resize_to_fit(wide, 32, 32, Fit::kStretch), resize(wide, 32, 32));
  EXPECT_EQ(pad(make_noise(1, 1, kGray), 3, 3, {1, 2, 3}).n_channels, kRgb);
}

}  // namespace
}  // namespace podere::image
