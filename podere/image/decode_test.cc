#include "podere/image/decode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "podere/image/resize.h"
#include "podere/image/test_pictures.h"

namespace podere::image {
namespace {

namespace fs = std::filesystem;

std::uint32_t sum_of(const Picture& picture) {
  return static_cast<std::uint32_t>(crc32(0, picture.pixels.data(), static_cast<uInt>(picture.pixels.size())));
}

/// What Pillow makes of pictures (tests/data/images/make.py): name, size, filter or "-", sum of the bytes of RGB.
struct Expected {
  std::string name;
  std::uint32_t width, height;
  std::string filter;
  std::uint32_t sum;
};

std::vector<Expected> read_expected() {
  std::ifstream in(kTestPictures / "EXPECTED.tsv");
  std::vector<Expected> all;
  for (Expected line;
       std::getline(in, line.name, '\t') && in >> line.width >> line.height >> line.filter >> line.sum;) {
    in.ignore();
    all.push_back(line);
  }
  return all;
}

TEST(Decode, IsPillowsToTheBit) {
  std::size_t n = 0;
  for (const Expected& expected : read_expected()) {
    if (expected.filter != "-") continue;
    const Picture picture = decode_test_picture(expected.name);
    EXPECT_EQ(std::pair(picture.width, picture.height), std::pair(expected.width, expected.height)) << expected.name;
    EXPECT_EQ(sum_of(to_rgb(picture)), expected.sum) << expected.name;
    ++n;
  }
  EXPECT_GT(n, 40);
}

TEST(Resize, IsPillowsToTheBit) {
  std::size_t n = 0;
  for (const Expected& expected : read_expected()) {
    if (expected.filter == "-") continue;
    const Filter filter = expected.filter == "box"        ? Filter::kBox
                          : expected.filter == "bilinear" ? Filter::kBilinear
                          : expected.filter == "bicubic"  ? Filter::kBicubic
                                                          : Filter::kLanczos;
    const Picture sized = resize(decode_test_picture(expected.name), expected.width, expected.height, filter);
    EXPECT_EQ(sum_of(to_rgb(sized)), expected.sum) << expected.name << ' ' << expected.filter << ' ' << expected.width;
    ++n;
  }
  EXPECT_GE(n, 48);
}

TEST(Decode, DamagedPicturesEndWithOneLine) {
  std::size_t n_refused = 0;
  for (const auto& entry : fs::directory_iterator(kTestPictures / "odd")) {
    const std::string fault = fault_of(bytes_of(entry.path()));
    if (fault.empty()) continue;
    ++n_refused;
    EXPECT_TRUE(fault.starts_with("x.tif: ")) << fault;
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
  }
  EXPECT_GT(n_refused, 15);
}

TEST(Decode, WhatIsCutOffIsNeverAWholePicture) {
  for (const char* const name :
       {"made/RGB.png", "made/RGB.jpg", "made/progressive.jpg", "made/tiff_lzw.tif", "made/L.tif"}) {
    const auto bytes = bytes_of(kTestPictures / name);
    const Picture whole = decode(bytes, name);
    for (std::size_t n = 0; n + 16 < bytes.size(); n += 7) {
      const Bytes part(bytes.data(), n);
      try {
        EXPECT_EQ(decode(part, name), whole) << name << " " << n;  // metadata behind the pixels may be missing
      } catch (const PictureFault& fault) {
        EXPECT_EQ(std::string(fault.what()).find('\n'), std::string::npos);
      }
    }
  }
}

TEST(Decode, PixelsThatAJpegLacksAreMissed) {
  const auto whole = bytes_of(kTestPictures / "made/RGB.jpg");
  const auto with_end = [&](std::size_t n, std::initializer_list<std::uint8_t> end) {
    std::vector<std::uint8_t> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
    bytes.insert(bytes.end(), end);
    return bytes;
  };
  EXPECT_EQ(fault_of(with_end(whole.size() - 2, {0xff, 0xd9})), "");
  EXPECT_NE(fault_of(with_end(whole.size() * 9 / 10, {0xff, 0xd9})).find("some of its pixels are lost"),
            std::string::npos);
  const auto with_fault_behind = with_end(whole.size() - 2, {0xff, 0xdb, 0, 3, 13, 0xff, 0xd9});
  EXPECT_NE(fault_of(with_fault_behind).find("cannot be decoded as JPEG: "), std::string::npos);
}

TEST(Decode, OtherFilesAreCalledWhatTheyAre) {
  const auto refusal = [](std::string text) {
    return fault_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(refusal(""), "x.tif: is empty, and no picture; copy it again");
  EXPECT_NE(refusal("GIF89a....").find("is a GIF; pictures are read as TIFF, JPEG or PNG: convert it"),
            std::string::npos);
  EXPECT_NE(refusal("RIFF....WEBPVP8 ").find("is a WebP picture"), std::string::npos);
  EXPECT_NE(refusal("BM......").find("is a BMP picture"), std::string::npos);
  EXPECT_NE(refusal("Sample 17\nwas lost\n").find("is a text, and no picture"), std::string::npos);
  EXPECT_NE(refusal(std::string("\x01\x02\x03\x04", 4)).find("of no kind that is known"), std::string::npos);
  auto animated = bytes_of(kTestPictures / "made/L.png");
  const std::string chunk(
      "\0\0\0\x08"
      "acTL\0\0\0\x02\0\0\0\0\0\0\0\0",
      20);
  animated.insert(animated.begin() + 33, chunk.begin(), chunk.end());
  EXPECT_NE(fault_of(animated).find("is an animated PNG"), std::string::npos);
}

TEST(Decode, PagesAreCountedAndChosen) {
  const auto bytes = bytes_of(kTestPictures / "made/pages.tif");
  EXPECT_EQ(count_pages(bytes, "x"), 3);
  EXPECT_EQ(decode(bytes, "x", {.page = 1}).width, 20);
  EXPECT_EQ(fault_of(bytes, {.page = 3}), "x.tif: has 3 pages, and page 3 is asked for; pages count from 0");
  EXPECT_NE(fault_of(bytes_of(kTestPictures / "made/L.png"), {.page = 1}).find("has 1 page,"), std::string::npos);
}

TEST(Decode, MemoryIsCheckedBeforeItIsTaken) {
  EXPECT_NE(fault_of(TestTiff(60'000, 60'000, "x").bytes()).find("take more than the 512 MB allowed"),
            std::string::npos);
  EXPECT_NE(fault_of(TestTiff(0xffffffff, 0xffffffff, "x").bytes()).find("x.tif: "), std::string::npos);
  EXPECT_NE(fault_of(TestTiff(0, 5, "x").bytes()).find("x.tif: "), std::string::npos);
  const auto tiff = TestTiff(100, 100, std::string(10'000, 'x')).bytes();
  EXPECT_NE(fault_of(tiff, {.max_bytes = 5'000}).find("take more than"), std::string::npos);
  EXPECT_EQ(fault_of(tiff, {.max_bytes = 50'000}), "");
  EXPECT_NE(fault_of(bytes_of(kTestPictures / "made/RGB.jpg"), {.max_bytes = 5'000}).find("take more"),
            std::string::npos);
  EXPECT_NE(fault_of(bytes_of(kTestPictures / "made/RGB.png"), {.max_bytes = 5'000}).find("take more"),
            std::string::npos);
}

using Values = std::vector<std::uint8_t>;

TEST(Decode, MoreBitsAreScaled) {
  EXPECT_EQ(decode(TestTiff(3, 1, memory_of<std::uint16_t>({0, 0x1234, 0xffff})).set(258, 16).bytes(), "x").pixels,
            (Values{0, 0x12, 0xff}));
  EXPECT_EQ(decode(TestTiff(3, 1, memory_of<std::int16_t>({-5, 0x1234, 0x7fff})).set(258, 16).set(339, 2).bytes(), "x")
                .pixels,
            (Values{0, 0x24, 0xff}));
  EXPECT_EQ(decode(TestTiff(2, 1, memory_of<std::uint32_t>({0x01ffffff, 0xff000000})).set(258, 32).bytes(), "x").pixels,
            (Values{1, 0xff}));
  EXPECT_EQ(decode(TestTiff(4, 1, std::string("\x1b")).set(258, 2).bytes(), "x").pixels, (Values{0, 85, 170, 255}));
  EXPECT_EQ(decode(TestTiff(2, 1, std::string("\x00\xff", 2)).set(262, 0).bytes(), "x").pixels, (Values{255, 0}));
}

TEST(Decode, WholeNumbersOfWhichProgramsReadOtherBytesAreRefused) {
  const std::string bytes(64, 'x');
  for (unsigned n_bits = 1; n_bits <= 33; ++n_bits) {
    for (const std::uint32_t format : {1U, 2U}) {
      const auto fault = fault_of(TestTiff(2, 2, bytes).set(258, n_bits).set(339, format).bytes());
      const bool is_refused = (n_bits > 16 && n_bits != 32);
      const std::string words = fmt::format(
          "x.tif: has samples of {} bits and format {}, which are not decoded; allowed are whole numbers of "
          "1 to 16 and of 32 bits, and real ones of 16, 32 and 64; convert it",
          n_bits, format);
      EXPECT_TRUE(is_refused ? fault.starts_with(words) : fault.empty()) << n_bits << ' ' << fault;
    }
  }
}

TEST(Decode, LayersInDepthAreRefused) {
  for (const std::uint16_t tag : {std::uint16_t{32997}, std::uint16_t{32998}}) {
    const auto fault_with = [&](std::uint32_t depth) {
      return fault_of(TestTiff(16, 16, std::string(512, 'x')).set(322, 16).set(323, 16).set(tag, depth).bytes());
    };
    EXPECT_EQ(fault_with(1), "");
    EXPECT_TRUE(
        fault_with(2).starts_with(fmt::format("x.tif: has 2 layers in depth (tag {}), which are not decoded", tag)))
        << fault_with(2);
  }
}

TEST(Decode, PicturesThatUseFewOfTheirBitsAreRefused) {
  const auto camera = TestTiff(3, 1, memory_of<std::uint16_t>({0, 0x123, 0xfff})).set(258, 16).bytes();
  EXPECT_NE(fault_of(camera).find("has values of 16 bits and uses 12 of them, so that it is nearly black: say what is "
                                  "white by --bits"),
            std::string::npos);
  EXPECT_EQ(decode(camera, "x", {.n_bits = 12}).pixels, (Values{0, 0x12, 0xff}));
  EXPECT_EQ(decode(camera, "x", {.n_bits = 16}).pixels, (Values{0, 0x1, 0xf}));
  EXPECT_EQ(decode(camera, "x", {.n_bits = 10}).pixels, (Values{0, 0x48, 0xff}));  // beyond it is white
  const auto bright = TestTiff(2, 1, memory_of<std::uint16_t>({0, 0x1000})).set(258, 16).bytes();
  EXPECT_EQ(decode(bright, "x").pixels, (Values{0, 0x10}));
  const auto black = TestTiff(2, 1, memory_of<std::uint16_t>({0, 0})).set(258, 16).bytes();
  EXPECT_EQ(decode(black, "x").pixels, (Values{0, 0}));
  const auto with_sign = TestTiff(2, 1, memory_of<std::int16_t>({-1, 0xff})).set(258, 16).set(339, 2).bytes();
  EXPECT_NE(fault_of(with_sign).find("uses 8 of them"), std::string::npos);
  EXPECT_EQ(decode(with_sign, "x", {.n_bits = 8}).pixels, (Values{0, 0xff}));
  auto rgb = TestTiff(1, 1, memory_of<std::uint16_t>({0x10, 0x20, 0x30})).set(258, 16).set(277, 3).set(262, 2);
  EXPECT_NE(fault_of(rgb.bytes()).find("uses 6 of them"), std::string::npos);
  const auto eight = TestTiff(2, 1, std::string("\x01\x02")).bytes();
  EXPECT_EQ(decode(eight, "x", {.n_bits = 12}).pixels, (Values{1, 2}));  // of 8 bits all are shown
}

TEST(Decode, RealNumbersAreScaled) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  const auto reals = [](const std::vector<float>& values) {
    return TestTiff(static_cast<std::uint32_t>(values.size()), 1, memory_of(values)).set(258, 32).set(339, 3).bytes();
  };
  EXPECT_EQ(decode(reals({0, 0.5F, 1, kNan}), "x").pixels, (Values{0, 128, 255, 0}));
  EXPECT_EQ(decode(reals({-100, 0, 100, kInf, -kInf}), "x").pixels, (Values{0, 128, 255, 255, 0}));
  EXPECT_EQ(decode(reals({7, 7}), "x").pixels, (Values{0, 0}));
  for (const std::vector<float>& none : {std::vector{kNan, kNan}, {kInf, -kInf}, {kNan, kInf}}) {
    EXPECT_EQ(fault_of(reals(none)), "x.tif: has no pixel that is a finite number");
  }
  EXPECT_EQ(decode(TestTiff(2, 1, memory_of<double>({0, 1})).set(258, 64).set(339, 3).bytes(), "x").pixels,
            (Values{0, 255}));
}

TEST(Decode, InterlacedPngIsAsAnyOther) {
  Picture picture = decode_test_picture("made/RGB.png");
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop information = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep bytes, std::size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<const char*>(bytes), n);
      },
      nullptr);
  png_set_IHDR(png, information, picture.width, picture.height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7, 0, 0);
  png_write_info(png, information);
  std::vector<png_bytep> rows;
  for (std::uint32_t y = 0; y < picture.height; ++y) rows.push_back(picture.row(y));
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &information);
  EXPECT_EQ(decode({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "x"), picture);
}

TEST(Picture, GrayIsPillowsBrightness) {
  Picture picture(2, 1, kRgb);
  picture.pixels = {10, 20, 30, 255, 255, 255};
  EXPECT_EQ(to_gray(picture).pixels, (Values{18, 255}));
  EXPECT_EQ(to_rgb(to_gray(picture)).pixels, (Values{18, 18, 18, 255, 255, 255}));
}

}  // namespace
}  // namespace podere::image
