#include "podere/base/file_lock.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

TEST(FileLock, IsHeldByOneAtATime) {
  const TemporaryFolder folder(testing::TempDir());
  const auto path = folder.path() / "study.json";
  {
    const FileLock first(path);
    EXPECT_THROW(FileLock second(path), InputError);
    EXPECT_THROW(FileLock::check_free(path), InputError);
    const FileLock other(folder.path() / "other.json");
  }
  EXPECT_NO_THROW(FileLock::check_free(path));
  const FileLock again(path);
}

TEST(FileLock, LeavesNothingBehind) {
  const TemporaryFolder folder(testing::TempDir());
  { const FileLock lock(folder.path() / "study.json"); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(FileLock, OfAKilledProcessLocksNothing) {
  const TemporaryFolder folder(testing::TempDir());
  std::ofstream(folder.path() / ".study.json.lock") << "";
  const FileLock lock(folder.path() / "study.json");
}

TEST(FileLock, InNoFolderIsRefused) {
  const TemporaryFolder folder(testing::TempDir());
  EXPECT_THROW(FileLock lock(folder.path() / "none" / "study.json"), InputError);
}

}  // namespace
}  // namespace podere
