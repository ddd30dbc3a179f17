#include "podere/image/micrograph.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/image/decode.h"
#include "podere/image/micrograph_files.h"
#include "podere/image/microscope.h"
#include "podere/image/test_pictures.h"

namespace podere::image {
namespace {

Bytes view(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

TEST(Micrograph, HasTheSameBytesOnEveryMachine) {
  // Of one of each kind, the same of gcc 12 and clang 14.
  std::uint32_t sum = 0;
  std::vector<bool> seen(kMicrographKinds.size());
  for (std::uint64_t i = 0; i < 40; ++i) {
    const auto kind = static_cast<std::size_t>(micrograph_kind(5, i));
    if (seen[kind]) continue;
    seen[kind] = true;
    const std::string file = to_tiff(make_micrograph(5, i));
    sum = static_cast<std::uint32_t>(crc32(sum, view(file).data(), static_cast<uInt>(file.size())));
  }
  EXPECT_EQ(seen, std::vector<bool>(kMicrographKinds.size(), true));
  EXPECT_EQ(sum, 3824689457U);
}

TEST(Micrograph, IsReadAsItWasDrawn) {
  const Micrograph micrograph = make_micrograph(1, 2);
  const std::string file = to_tiff(micrograph);
  EXPECT_EQ(decode(view(file), "x"), micrograph.picture);
  const MicroscopeFacts facts = read_microscope_facts(view(file), "x");
  EXPECT_NEAR(*facts.pixel_size_nm, micrograph.pixel_size_nm, 0.01);
  EXPECT_NEAR(*facts.voltage_kv, micrograph.voltage_kv, 1e-9);
  EXPECT_NEAR(*facts.working_distance_mm, micrograph.working_distance_mm, 1e-9);
  EXPECT_NEAR(*facts.magnification, 0.1143 / (1024 * micrograph.pixel_size_nm * 1e-9), 10);
  EXPECT_EQ(facts.detector, micrograph.detector);
}

TEST(Micrograph, KindsAreEquallyMany) {
  std::vector<int> counts(kMicrographKinds.size());
  for (std::uint64_t i = 0; i < 10'000; ++i) ++counts[static_cast<std::size_t>(micrograph_kind(0, i))];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NE(make_micrograph(0, 1).picture, make_micrograph(1, 1).picture);
}

TEST(Micrograph, FolderIsWholeOrAbsent) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder(fs::temp_directory_path());
  class Stopping : public Progress {
   public:
    bool stop_requested() override { return true; }
  } stopping;
  Progress progress;
  EXPECT_THROW(write_micrographs(folder.path() / "a", 1, 3, 1, stopping), Error);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_micrographs(folder.path() / "a", 1, 3, 2, progress);
  EXPECT_THROW(write_micrographs(folder.path() / "a", 1, 3, 2, progress), InputError);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::string kind(kMicrographKinds[static_cast<std::size_t>(micrograph_kind(1, i))]);
    const auto bytes = bytes_of(folder.path() / "a" / kind / ("00000" + std::to_string(i) + ".tif"));
    EXPECT_EQ(std::string(bytes.begin(), bytes.end()), to_tiff(make_micrograph(1, i)));
  }
  EXPECT_EQ(bytes_of(folder.path() / "a/LABELS.csv").size() > 40, true);
}

TEST(Microscope, OfZeissSaysHowItWasSet) {
  const MicroscopeFacts facts = read_microscope_facts(bytes_of(kTestPictures / "made/zeiss.tif"), "zeiss.tif");
  EXPECT_NEAR(*facts.pixel_size_nm, 11.16, 1e-9);
  EXPECT_NEAR(*facts.voltage_kv, 10, 1e-9);
  EXPECT_NEAR(*facts.working_distance_mm, 4.967, 1e-9);
  EXPECT_NEAR(*facts.magnification, 10'000, 1e-6);
  EXPECT_EQ(facts.detector, "InLens");
  EXPECT_GT(facts.pairs.size(), 500);
  const auto has = [&](const std::string& name, const std::string& line) {
    return std::find(facts.pairs.begin(), facts.pairs.end(), std::pair(name, line)) != facts.pairs.end();
  };
  EXPECT_TRUE(has("AP_WIDTH", "Width = 11.43 \u00b5m"));
}

TEST(Microscope, OfFeiSaysHowItWasSet) {
  const std::string text =
      "[Beam]\r\nHV=5000\r\n[Scan]\r\nPixelWidth=1.35e-009\r\n[Stage]\r\nWorkingDistance=0.0041\r\n[Detectors]\r\nName="
      "TLD\r\n";
  // The text stands behind the pixels: 12 tags, of which that is one.
  std::string file = to_tiff(make_micrograph(0, 0));
  const std::size_t entry = 10 + 11 * 12;
  const auto set32 = [&](std::size_t at, std::size_t value) {
    for (int i = 0; i < 4; ++i) file[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  file[entry] = static_cast<char>(34682 & 0xff);
  file[entry + 1] = static_cast<char>(34682 >> 8);
  set32(entry + 4, text.size());
  set32(entry + 8, file.size());
  file += text;
  const MicroscopeFacts facts = read_microscope_facts(view(file), "x");
  EXPECT_NEAR(*facts.pixel_size_nm, 1.35, 1e-9);
  EXPECT_NEAR(*facts.voltage_kv, 5, 1e-9);
  EXPECT_NEAR(*facts.working_distance_mm, 4.1, 1e-9);
  EXPECT_FALSE(facts.magnification);
  EXPECT_EQ(facts.detector, "TLD");
  EXPECT_EQ(facts.pairs.front(), std::pair(std::string("Beam.HV"), std::string("5000")));
}

TEST(Microscope, IsNoneWhereNothingIsWritten) {
  for (const char* const name : {"made/RGB.png", "made/L.tif", "made/RGB.jpg"}) {
    const MicroscopeFacts facts = read_microscope_facts(bytes_of(kTestPictures / name), name);
    EXPECT_FALSE(facts.pixel_size_nm) << name;
    EXPECT_TRUE(facts.pairs.empty()) << name;
  }
  // Of damaged pictures nothing or something, and no crash.
  for (const auto& file : std::filesystem::directory_iterator(kTestPictures / "odd")) {
    try {
      read_microscope_facts(bytes_of(file.path()), "x");
    } catch (const PictureFault& fault) {
      EXPECT_EQ(std::string(fault.what()).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace podere::image
