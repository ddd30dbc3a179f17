#include "podere/base/temporary_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "podere/base/error.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

std::ptrdiff_t n_in_folder(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

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

TEST(TemporaryFolder, ThatOfAProcessThatIsGoneIsRemovedAndNoOther) {
  const TemporaryFolder parent(testing::TempDir());
  const TemporaryFolder of_mine(parent.path());
  const pid_t gone = fork();
  if (gone == 0) {
    const TemporaryFolder left(parent.path());
    std::ofstream(left.path() / "file") << "text";
    _exit(0);
  }
  waitpid(gone, nullptr, 0);
  const std::vector<std::string> others = {"podere-model-17.json", "podere-1-abcdef", "podere--abcdef"};
  for (const std::string& other : others) fs::create_directory(parent.path() / other);
  EXPECT_EQ(n_in_folder(parent.path()), 5);
  const TemporaryFolder folder(parent.path());
  EXPECT_EQ(n_in_folder(parent.path()), 5);
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(parent.path() / other)) << other;
  EXPECT_TRUE(fs::exists(of_mine.path()));
}

TEST(TemporaryFolder, IsThereWhereManyAreMadeAtOnce) {
  const TemporaryFolder parent(testing::TempDir());
  std::atomic<int> n_missing = 0;
  {
    std::vector<std::jthread> makers(8);
    for (std::jthread& maker : makers) {
      maker = std::jthread([&] {
        for (int i = 0; i < 200; ++i) {
          const TemporaryFolder folder(parent.path());
          n_missing += fs::exists(folder.path()) ? 0 : 1;
        }
      });
    }
  }
  EXPECT_EQ(n_missing, 0);
  EXPECT_EQ(n_in_folder(parent.path()), 0);
}

TEST(TemporaryFolder, SaysWhereItCannotBe) { EXPECT_THROW(TemporaryFolder("/no/such/folder"), InputError); }

}  // namespace
}  // namespace podere
