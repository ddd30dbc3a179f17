#include "podere/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "podere/base/error.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, GoesWithAllThatIsInIt) {
  fs::path path;
  {
    const TemporaryFolder folder(testing::TempDir());
    path = folder.path();
    fs::create_directories(path / "a/b");
    std::ofstream(path / "a/b/file") << "text";
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, ThatOfAProcessThatIsGoneIsTakenAwayAndNoOther) {
  const TemporaryFolder parent(testing::TempDir());
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const fs::path left = parent.path() / ("podere-" + std::to_string(gone) + "-abcdef");
  const fs::path others[] = {parent.path() / ("podere-" + std::to_string(gone) + "-model.json"),
                             parent.path() / ("podere-" + std::to_string(getpid()) + "-abcdef"),
                             parent.path() / "podere-1-abcdef", parent.path() / "podere--abcdef"};
  fs::create_directories(left / "inside");
  for (const fs::path& other : others) fs::create_directory(other);
  const TemporaryFolder folder(parent.path());
  EXPECT_FALSE(fs::exists(left));
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST(TemporaryFolder, SaysWhereItCannotBe) { EXPECT_THROW(TemporaryFolder("/no/such/folder"), InputError); }

}  // namespace
}  // namespace podere
