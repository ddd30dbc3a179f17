#include "podere/classify/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::classify {
namespace {

class TextOutputTest : public testing::Test {
 protected:
  TextOutputTest() { std::ofstream(path_).close(); }

  OutputOptions options(std::vector<std::string> labels = {}) const {
    return {.path = path_, .n_pictures = 1, .n_top = 2, .labels = std::move(labels), .input = {}, .attributes = {}};
  }
  std::string written() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static Outcome outcome(std::uint32_t label) {
    Outcome found;
    found.width = found.height = 16;
    found.top = {{label, 0.75F}, {0, 0.25F}};
    return found;
  }

  const TemporaryFolder folder_{std::filesystem::temp_directory_path()};
  const std::string path_ = folder_.path() / "labels.csv";
};

TEST_F(TextOutputTest, OfNoPicturesIsALineOfNames) {
  open_output(options())->end();
  EXPECT_EQ(written(), csv_head(2));
}

TEST_F(TextOutputTest, HasAllLinesInTheirOrderWhenThereAreMoreThanAreHeldInMemory) {
  constexpr int kPictures = 60'000;  // some 3 MB
  std::string expected = csv_head(2);
  const std::vector<std::string> labels = {"tips", "wires, long"};
  const auto output = open_output(options(labels));
  for (int i = 0; i < kPictures; ++i) {
    const std::string name = "folder/with a long name/" + std::to_string(i) + ".tif";
    output->add(name, outcome(static_cast<std::uint32_t>(i % 2)));
    append_csv_line(name, outcome(static_cast<std::uint32_t>(i % 2)), 2, labels, expected);
  }
  EXPECT_GT(written().size(), std::size_t{1} << 20);
  output->end();
  EXPECT_TRUE(written() == expected);  // EXPECT_EQ would print megabytes
}

TEST_F(TextOutputTest, BytesOfNamesThatAreNoTextAreEscaped) {
  const auto output = open_output(options());
  output->add("ü\xff.tif", outcome(0));
  output->end();
  EXPECT_NE(written().find("\nü\\xff.tif,0,0.75,"), std::string::npos) << written();
}

TEST_F(TextOutputTest, AClassWithoutANameIsADamagedResult) {
  const auto output = open_output(options({"tips"}));
  EXPECT_NO_THROW(output->add("a.tif", outcome(0)));
  EXPECT_THROW(output->add("a.tif", outcome(1)), Error);
}

TEST_F(TextOutputTest, AFullDiskIsTheUsersToMend) {
  std::filesystem::remove(path_);
  EXPECT_THROW(open_output(options())->end(), Error);  // it was removed
  std::filesystem::create_symlink("/dev/full", path_);
  EXPECT_THROW(open_output(options())->end(), InputError);
}

}  // namespace
}  // namespace podere::classify
