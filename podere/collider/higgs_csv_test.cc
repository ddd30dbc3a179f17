#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "podere/base/error.h"
#include "podere/collider/higgs.h"

namespace podere::collider {
namespace {

namespace fs = std::filesystem;

class HiggsCsv : public testing::Test {
 protected:
  HiggsCsv() { fs::create_directory(folder_); }
  ~HiggsCsv() override { fs::remove_all(folder_); }

  std::string written(std::uint64_t n_events, bool header, int n_threads) {
    write_csv(folder_ / "higgs.csv", 3, n_events, header, n_threads, progress_);
    std::ifstream file(folder_ / "higgs.csv");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  fs::path folder_ = fs::temp_directory_path() / ("podere_higgs_csv_" + std::to_string(getpid()));
  Progress progress_;
};

TEST_F(HiggsCsv, HasTheLayoutOfTheUciSetAndGivesTheSameNumbersBack) {
  std::istringstream text(written(1500, false, 2));
  std::string line;
  for (std::uint64_t i = 0; i < 1500; ++i) {
    ASSERT_TRUE(std::getline(text, line));
    const Event event = generate_event(3, i);
    std::istringstream fields(line);
    std::string field;
    ASSERT_TRUE(std::getline(fields, field, ','));
    EXPECT_EQ(field, event.label > 0 ? "1.000000000000000000e+00" : "0.000000000000000000e+00");
    for (const float value : event.features) {
      ASSERT_TRUE(std::getline(fields, field, ','));
      ASSERT_EQ(std::strtof(field.c_str(), nullptr), value);
    }
    EXPECT_FALSE(std::getline(fields, field, ','));
  }
  EXPECT_FALSE(std::getline(text, line));
}

TEST_F(HiggsCsv, IsTheSameOnAnyNumberOfThreads) {
  const std::string one = written(20'000, false, 1);
  EXPECT_TRUE(one == written(20'000, false, 3));
}

TEST_F(HiggsCsv, BeginsWithNamesIfAsked) {
  const std::string text = written(1, true, 1);
  EXPECT_EQ(text.substr(0, 27), "label,lepton_pT,lepton_eta,");
  EXPECT_EQ(text.substr(text.find('\n') + 1), written(1, false, 1));
}

TEST_F(HiggsCsv, OfNoEventsIsEmpty) { EXPECT_EQ(written(0, false, 2), ""); }

TEST_F(HiggsCsv, RaisesAnErrorWhenTheDiskIsFullAndLeavesNothing) {
  const fs::path link = folder_ / "full.csv";
  fs::create_symlink("/dev/full", link);
  EXPECT_THROW(write_csv(link, 3, 5000, false, 2, progress_), Error);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(HiggsCsv, RefusesAFolderThatIsNotThere) {
  EXPECT_THROW(write_csv(folder_ / "no" / "higgs.csv", 3, 10, false, 1, progress_), InputError);
}

TEST_F(HiggsCsv, LeavesNothingWhenAskedToStop) {
  class Stop : public Progress {
    bool stop_requested() override { return true; }
  } stop;
  EXPECT_THROW(write_csv(folder_ / "higgs.csv", 3, 100'000, false, 1, stop), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace podere::collider
