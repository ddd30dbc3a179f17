#include "podere/classify/part_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::classify {
namespace {

class PartFilesTest : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  Parts parts(std::uint64_t n_tasks) const { return Parts(folder_.path(), n_tasks); }

  const TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_F(PartFilesTest, HaveWhatWasDoneByAll) {
  {
    PartFile first(path("0.0.part"));
    PartFile second(path("0.1.part"));
    first.begin(3);
    first.end(3, "three");
    second.begin(0);
    second.end(0, "");
    second.begin(1);
  }
  std::ofstream(path("run.json")) << "not a part";
  const Parts all = parts(4);
  EXPECT_EQ(all.n_done(), 2U);
  EXPECT_EQ(all.result(3), "three");
  EXPECT_EQ(all.result(0), "");
  EXPECT_FALSE(all.is_done(1));
  EXPECT_EQ(all.n_begun(0), 0U);
  EXPECT_EQ(all.n_begun(1), 1U);
  EXPECT_EQ(all.n_begun(2), 0U);
}

TEST_F(PartFilesTest, OfAFileThatIsCutAnywhereWhatIsWholeCounts) {
  {
    PartFile file(path("0.0.part"));
    for (std::uint64_t task = 0; task < 3; ++task) file.end(task, "result " + std::to_string(task));
  }
  std::string bytes;
  std::getline(std::ifstream(path("0.0.part"), std::ios::binary), bytes, '\x7f');
  const std::size_t n_record = bytes.size() / 3;
  for (std::size_t n = 0; n <= bytes.size(); ++n) {
    std::ofstream(path("0.0.part"), std::ios::binary) << bytes.substr(0, n);
    const Parts cut = parts(3);
    ASSERT_EQ(cut.n_done(), n / n_record) << n;
    if (n >= 2 * n_record) {
      ASSERT_EQ(cut.result(1), "result 1");
    }
  }
}

TEST_F(PartFilesTest, DamagedRecordsEndAFile) {
  {
    PartFile file(path("0.0.part"));
    for (std::uint64_t task = 0; task < 2; ++task) file.end(task, "result");
  }
  std::string bytes;
  std::getline(std::ifstream(path("0.0.part"), std::ios::binary), bytes, '\x7f');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    std::ofstream(path("0.0.part"), std::ios::binary) << damaged;
    EXPECT_EQ(parts(2).n_done(), i < bytes.size() / 2 ? 0U : 1U) << i;
  }
}

TEST_F(PartFilesTest, ThreadsAddToOneFile) {
  {
    PartFile file(path("0.0.part"));
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&file, thread] {
        for (std::uint64_t i = 0; i < 100; ++i) {
          const std::uint64_t task = i * 4 + thread;
          file.begin(task);
          file.end(task, std::string(i, 'a') + std::to_string(task));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  const Parts all = parts(400);
  EXPECT_EQ(all.n_done(), 400U);
  EXPECT_EQ(all.result(37), std::string(9, 'a') + "37");
}

TEST_F(PartFilesTest, AreNotWrittenOver) {
  const PartFile file(path("0.0.part"));
  EXPECT_THROW(PartFile(path("0.0.part")), InputError);
}

TEST_F(PartFilesTest, OfAnotherRunAreRefused) {
  PartFile(path("0.0.part")).end(7, "result");
  EXPECT_THROW(parts(7), InputError);
  EXPECT_EQ(parts(8).n_done(), 1U);
}

}  // namespace
}  // namespace podere::classify
