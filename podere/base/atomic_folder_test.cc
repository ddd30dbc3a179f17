#include "podere/base/atomic_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t n_entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(AtomicFolder, IsThereWithItsFilesOnceItIsCommitted) {
  const TemporaryFolder parent(testing::TempDir());
  const fs::path path = parent.path() / "out/";
  {
    AtomicFolder folder(path);
    std::ofstream(folder.temporary_path() / "file") << "text";
    EXPECT_FALSE(fs::exists(path));
    folder.commit();
  }
  EXPECT_EQ(fs::file_size(path / "file"), 4U);
  EXPECT_EQ(n_entries(parent.path()), 1);
}

TEST(AtomicFolder, LeavesNothingWithoutCommit) {
  const TemporaryFolder parent(testing::TempDir());
  {
    const AtomicFolder folder(parent.path() / "out");
    std::ofstream(folder.temporary_path() / "file") << "text";
  }
  EXPECT_EQ(n_entries(parent.path()), 0);
}

TEST(AtomicFolder, ReplacesAnEmptyFolderAndWhatAProcessThatIsGoneLeft) {
  const TemporaryFolder parent(testing::TempDir());
  const fs::path path = parent.path() / "out";
  fs::create_directory(path);
  const pid_t gone = fork();
  if (gone == 0) {
    const AtomicFolder left(path);
    _exit(0);
  }
  waitpid(gone, nullptr, 0);
  EXPECT_EQ(n_entries(parent.path()), 2);
  AtomicFolder(path).commit();
  EXPECT_EQ(n_entries(parent.path()), 1);
}

TEST(AtomicFolder, RefusesWhatWouldBeLostAndPlacesThatAreNotThere) {
  const TemporaryFolder parent(testing::TempDir());
  std::ofstream(parent.path() / "file") << "text";
  EXPECT_THROW(AtomicFolder(parent.path()), InputError);
  EXPECT_THROW(AtomicFolder(parent.path() / "file"), InputError);
  EXPECT_THROW(AtomicFolder(parent.path() / "none/out"), InputError);
  std::filesystem::create_symlink("none", parent.path() / "dangling");
  EXPECT_THROW(AtomicFolder(parent.path() / "dangling"), InputError);
  EXPECT_EQ(n_entries(parent.path()), 2);
}

}  // namespace
}  // namespace podere
