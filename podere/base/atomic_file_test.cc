#include "podere/base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

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

TEST_F(AtomicFileTest, IsThereWholeWithoutAFlushAsWell) {
  AtomicFile file(path_);
  file.write("ab");
  EXPECT_FALSE(fs::exists(path_));
  file.commit_unflushed();
  EXPECT_EQ(content(path_), "ab");
  EXPECT_EQ(n_files(), 1);
}

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

TEST_F(AtomicFileTest, WritesADescriptorWhereItStandsAndReplacesNothing) {
  std::ofstream(path_) << "old,";
  for (const int flags : {O_APPEND, 0}) {
    const int given = open(path_.c_str(), O_WRONLY | flags);
    lseek(given, 0, SEEK_END);
    fs::remove(folder_ / "out");
    fs::create_symlink(fs::path("/dev/fd") / std::to_string(given), folder_ / "out");
    AtomicFile file(folder_ / "out");
    EXPECT_TRUE(file.temporary_path().empty());
    file.write("new,");
    file.commit();
    EXPECT_EQ(write(given, "after,", 6), 6);
    close(given);
  }
  EXPECT_EQ(content(path_), "old,new,after,new,after,");
}

TEST_F(AtomicFileTest, RefusesDescriptorsThatItWasNotGivenToWriteTo) {
  std::ofstream(path_) << "old";
  const int reads = open(path_.c_str(), O_RDONLY);
  const int ours = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  for (const std::string& name :
       {std::to_string(reads), std::to_string(ours), std::string("4000"), std::string("1e0")}) {
    EXPECT_THROW(AtomicFile("/proc/self/fd/" + name), InputError) << name;
  }
  close(reads);
  close(ours);
  EXPECT_EQ(content(path_), "old");
}

TEST_F(AtomicFileTest, WaitsForAPipeThatDoesNot) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe2(pipe_ends.data(), O_NONBLOCK), 0);
  const std::string sent(1 << 20, 'x');
  std::thread writer([&] {
    AtomicFile file("/dev/fd/" + std::to_string(pipe_ends[1]));
    file.write(sent);
    file.commit();
    close(pipe_ends[1]);
  });
  std::string received;
  std::array<char, 1000> piece{};
  fcntl(pipe_ends[0], F_SETFL, 0);
  for (ssize_t n = 0; (n = read(pipe_ends[0], piece.data(), piece.size())) > 0;) {
    received.append(piece.data(), static_cast<std::size_t>(n));
  }
  writer.join();
  close(pipe_ends[0]);
  EXPECT_EQ(received, sent);
}

TEST_F(AtomicFileTest, NotesThatTheReaderOfAPipeHasLeft) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  AtomicFile file("/dev/fd/" + std::to_string(pipe_ends[1]));
  file.write("read");
  EXPECT_FALSE(file.reader_has_left());
  close(pipe_ends[0]);
  file.write("not read");
  EXPECT_TRUE(file.reader_has_left());
  file.write("not read either");
  file.commit();
  close(pipe_ends[1]);
}

TEST_F(AtomicFileTest, AFullDiskIsForTheUserToMend) {
  AtomicFile file("/dev/full");
  EXPECT_THROW(file.write("x"), InputError);
}

}  // namespace
}  // namespace podere
