#include "podere/base/atomic_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "podere/base/error.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t n_files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const fs::path folder_ = fs::temp_directory_path() / ("podere-atomic-file-test-" + std::to_string(getpid()));
  const fs::path path_ = folder_ / "out.txt";
};

TEST_F(AtomicFileTest, IsThereWholeAfterCommit) {
  AtomicFile file(path_);
  file.write("ab");
  file.write("cd");
  EXPECT_FALSE(fs::exists(path_));
  file.commit();
  EXPECT_EQ(content(path_), "abcd");
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(AtomicFileTest, LeavesTheOldFileWithoutCommit) {
  std::ofstream(path_) << "old";
  { AtomicFile(path_).write("new"); }
  EXPECT_EQ(content(path_), "old");
  EXPECT_EQ(n_files(), 1u);
}

TEST_F(AtomicFileTest, TakesPiecesInAnyOrderFromOtherProcesses) {
  AtomicFile file(path_);
  write_into(file.temporary_path(), 2, "cd");
  write_into(file.temporary_path(), 0, "ab");
  file.commit();
  EXPECT_EQ(content(path_), "abcd");
}

TEST_F(AtomicFileTest, ReplacesWhatALinkPointsTo) {
  std::ofstream(folder_ / "target") << "old";
  fs::create_symlink("target", path_);
  AtomicFile file(path_);
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(content(folder_ / "target"), "new");
}

TEST_F(AtomicFileTest, RefusesPlacesThatCannotBeWritten) {
  EXPECT_THROW(AtomicFile(""), InputError);
  EXPECT_THROW(AtomicFile{folder_}, InputError);
  EXPECT_THROW(AtomicFile(folder_ / "absent" / "out.txt"), InputError);
  EXPECT_THROW(AtomicFile(folder_ / std::string(300, 'x')), InputError);
  fs::create_symlink("nowhere", folder_ / "dangling");
  EXPECT_THROW(AtomicFile(folder_ / "dangling"), InputError);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_THROW(AtomicFile(folder_ / "file" / "out.txt"), InputError);
}

TEST_F(AtomicFileTest, AFullDiskIsForTheUserToMend) {
  AtomicFile file("/dev/full");
  EXPECT_THROW(file.write("x"), InputError);
}

}  // namespace
}  // namespace podere
