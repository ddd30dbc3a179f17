#include "podere/classify/preprocessing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::classify {
namespace {

/// 2 x 1 pixels: red, and a dark one.
image::Picture two_pixels() {
  image::Picture picture(2, 1, image::kRgb);
  picture.pixels = {255, 0, 0, 10, 20, 30};
  return picture;
}

std::vector<float> prepared(const Preprocessing& preprocessing, const InputShape& shape,
                            const image::Picture& picture) {
  const Preparer preparer(preprocessing, shape, "test");
  std::vector<float> input(preparer.n_values());
  preparer.fill(preparer.resized(picture), input);
  return input;
}

TEST(Preprocessing, ValuesComeByChannel) {
  const Preprocessing raw = preprocessing_of("raw", {3, 1, 2});
  EXPECT_EQ(prepared(raw, {3, 1, 2}, two_pixels()), (std::vector<float>{255, 10, 0, 20, 0, 30}));
  EXPECT_EQ(prepared(raw, {3, 1, 2, true}, two_pixels()), (std::vector<float>{255, 0, 0, 10, 20, 30}));
  Preprocessing turned = raw;
  turned.channels = ChannelOrder::kBgr;
  EXPECT_EQ(prepared(turned, {3, 1, 2}, two_pixels()), (std::vector<float>{0, 30, 0, 20, 255, 10}));
}

TEST(Preprocessing, GrayPicturesServeColorNetworksAndTheOtherWayRound) {
  image::Picture gray(2, 1, image::kGray);
  gray.pixels = {7, 9};
  const Preprocessing raw = preprocessing_of("raw", {3, 1, 2});
  EXPECT_EQ(prepared(raw, {3, 1, 2}, gray), (std::vector<float>{7, 9, 7, 9, 7, 9}));
  EXPECT_EQ(prepared(raw, {1, 1, 2}, gray), (std::vector<float>{7, 9}));
  EXPECT_EQ(prepared(raw, {1, 1, 2}, two_pixels()), (std::vector<float>{76, 18}));
}

TEST(Preprocessing, ScalesAsTorchvisionDoes) {
  const std::vector<float> input = prepared(preprocessing_of("imagenet", {3, 1, 2}), {3, 1, 2}, two_pixels());
  EXPECT_EQ(input[0], (1.0F - 0.485F) / 0.229F);
  EXPECT_EQ(input[5], (30.0F / 255 - 0.406F) / 0.225F);
  EXPECT_EQ(prepared(preprocessing_of("inception", {3, 1, 2}), {3, 1, 2}, two_pixels())[0], 1.0F);
  EXPECT_EQ(prepared(preprocessing_of("unit", {3, 1, 2}), {3, 1, 2}, two_pixels())[0], 1.0F);
}

TEST(Preprocessing, OfImagenetCutsOutTheMiddle) {
  EXPECT_EQ(preprocessing_of("imagenet", {3, 224, 224}).shortest_side, 256U);
  EXPECT_EQ(preprocessing_of("imagenet", {3, 299, 299}).shortest_side, 342U);
  // Black left and right of the middle third, which is white.
  image::Picture picture(300, 100, image::kGray);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    for (std::uint32_t x = 100; x < 200; ++x) picture.row(y)[x] = 255;
  }
  const auto is_white = [&](const Preprocessing& preprocessing) {
    const std::vector<float> input = prepared(preprocessing, {1, 8, 8}, picture);
    return std::ranges::count(input, 255.0F) >= 6 * 8;  // a column at each border is mixed with the black beside it
  };
  EXPECT_TRUE(is_white({.fit = image::Fit::kCrop, .divisor = 1}));
  EXPECT_TRUE(is_white({.fit = image::Fit::kCrop, .shortest_side = 9, .divisor = 1}));
  EXPECT_FALSE(is_white({.fit = image::Fit::kStretch, .divisor = 1}));
  EXPECT_FALSE(is_white({.fit = image::Fit::kPad, .divisor = 1}));
}

class PreprocessingFile : public testing::Test {
 protected:
  std::string file(const std::string& text) const {
    const auto path = folder_.path() / "net.json";
    std::ofstream(path) << text;
    return path.string();
  }
  Preprocessing read(const std::string& text) const { return preprocessing_of(file(text), {3, 8, 8}); }

  const TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(PreprocessingFile, HasTheFields) {
  const Preprocessing read_one = read(R"({"fit": "pad", "filter": "lanczos", "channels": "bgr", "divisor": 2,
                                          "mean": [1, 2, 3], "std": [4]})");
  EXPECT_EQ(read_one.fit, image::Fit::kPad);
  EXPECT_EQ(read_one.filter, image::Filter::kLanczos);
  EXPECT_EQ(read_one.channels, ChannelOrder::kBgr);
  EXPECT_EQ(read_one.divisor, 2);
  EXPECT_EQ(read_one.mean, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(read_one.std, (std::vector<float>{4}));
}

TEST_F(PreprocessingFile, IsRefusedIfItCannotBe) {
  for (const char* text : {"", "{", "[]", R"({"fit": "twist"})", R"({"means": [1]})", R"({"mean": ["1"]})"}) {
    EXPECT_THROW(read(text), InputError) << text;
  }
  const std::string twice = file(R"({"divisor": 1, "mean": [0], "divisor": 255})");
  try {
    preprocessing_of(twice, {3, 8, 8});
    FAIL() << "a field that is given twice was taken";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), twice + ": 'divisor' is given twice");
  }
  EXPECT_THROW(preprocessing_of(folder_.path() / "none.json", {3, 8, 8}), InputError);
  EXPECT_THROW(read(std::string(100000, '[')), InputError);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Preprocessing& bad :
       {Preprocessing{.mean = {1, 2}}, Preprocessing{.mean = {}}, Preprocessing{.std = {0}}, Preprocessing{.std = {-1}},
        Preprocessing{.mean = {infinity}}, Preprocessing{.std = {infinity}}, Preprocessing{.shortest_side = 1 << 20}}) {
    EXPECT_THROW(Preparer(bad, {3, 8, 8}, "test"), InputError);
  }
}

}  // namespace
}  // namespace podere::classify
