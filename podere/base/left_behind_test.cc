#include "podere/base/left_behind.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "podere/base/atomic_file.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

/// What `work` leaves where it is killed in the middle.
void be_killed_after(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
}

std::ptrdiff_t n_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(LeftBehind, PartsOfFilesGoWithTheNextFileOfThatName) {
  const TemporaryFolder folder(testing::TempDir());
  const fs::path path = folder.path() / "out";
  be_killed_after([&] {
    auto* file = new AtomicFile(path);
    file->write("half");
  });
  be_killed_after([&] { new AtomicFile(folder.path() / "other"); });
  EXPECT_EQ(n_in(folder.path()), 2);
  AtomicFile file(path);
  EXPECT_EQ(n_in(folder.path()), 2) << "its own, and that of the other name";
  file.write("whole");
  file.commit();
  EXPECT_EQ(n_in(folder.path()), 2);
  EXPECT_EQ(fs::file_size(path), 5U);
}

TEST(LeftBehind, WhatAnotherWritesNowStays) {
  const TemporaryFolder folder(testing::TempDir());
  const fs::path path = folder.path() / "out";
  AtomicFile first(path);
  be_killed_after([&] { new AtomicFile(path); });
  AtomicFile second(path);
  first.write("first");
  first.commit();
  second.write("second");
  second.commit();
  EXPECT_EQ(fs::file_size(path), 6U);
  EXPECT_EQ(n_in(folder.path()), 1);
}

TEST(LeftBehind, OtherNamesStay) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string own_name = name_to_own("out.part-");
  const std::string others[] = {own_name + "x",
                                own_name.substr(0, own_name.size() - 1),
                                "out.part-ffffff-abcdef.txt",
                                "out.part-abcdef",
                                "out.part-zzzzzz-abcdef",
                                "out"};
  for (const std::string& name : others) std::ofstream(folder.path() / name) << "user's";
  fs::create_symlink("out", folder.path() / own_name);
  remove_left_behind(folder.path(), "out.part-");
  EXPECT_EQ(n_in(folder.path()), std::ssize(others) + 1);
}

TEST(LeftBehind, OneThatWasRemovedBeforeItWasOwnedIsMadeAgain) {
  const TemporaryFolder folder(testing::TempDir());
  std::string name = folder.path() / name_to_own("x-");
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  remove_left_behind(folder.path(), "x-");
  EXPECT_FALSE(fs::exists(name));
  EXPECT_FALSE(own(descriptor));
  close(descriptor);
}

}  // namespace
}  // namespace podere
