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
  Results results(std::uint64_t n_tasks, std::vector<std::string> names = {"0.0.part"}) const {
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names) files.push_back(path(name));
    return Results(files, n_tasks);
  }
  static std::size_t n_done(const Results& all, std::uint64_t n_tasks) {
    std::size_t n = 0;
    for (std::uint64_t task = 0; task < n_tasks; ++task) n += all.is_done(task) ? 1 : 0;
    return n;
  }

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
  const Results all = results(4, {"0.0.part", "0.1.part"});
  EXPECT_EQ(n_done(all, 4), 2U);
  EXPECT_EQ(all.result(3), "three");
  EXPECT_EQ(all.result(0), "");
  EXPECT_THROW(all.result(1), Error);
  EXPECT_FALSE(all.was_begun(0));
  EXPECT_TRUE(all.was_begun(1));
  EXPECT_FALSE(all.was_begun(2));
}

TEST_F(PartFilesTest, KnowWhatWasAtWorkWhenAnExecutorEnded) {
  {
    PartFile first(path("0.0.part"));
    for (const std::uint64_t task : {0, 1, 2}) first.begin(task);
    first.end(0, "");
    PartFile second(path("1.0.part"));
    second.begin(1);
    second.end(1, "done at last");
  }
  const Results all = results(4, {"0.0.part", "1.0.part"});
  EXPECT_FALSE(all.was_at_an_end(0));
  EXPECT_TRUE(all.was_at_an_end(1)) << "although it is done";
  EXPECT_TRUE(all.was_at_an_end(2));
  EXPECT_FALSE(all.was_at_an_end(3));
}

TEST_F(PartFilesTest, MayBeMoreThanAreOpenAtOnce) {
  std::vector<std::string> names;
  for (std::uint64_t task = 0; task < 200; ++task) {
    names.push_back(std::to_string(task) + ".0.part");
    PartFile file(path(names.back()));
    file.end(task, std::to_string(task));
    file.close();
  }
  const Results all = results(200, names);
  for (std::uint64_t i = 0; i < 400; ++i) ASSERT_EQ(all.result(i * 37 % 200), std::to_string(i * 37 % 200));
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
    const Results cut = results(3);
    ASSERT_EQ(n_done(cut, 3), n / n_record) << n;
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
    EXPECT_EQ(n_done(results(2), 2), i < bytes.size() / 2 ? 0U : 1U) << i;
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
  const Results all = results(400);
  EXPECT_EQ(n_done(all, 400), 400U);
  EXPECT_EQ(all.result(37), std::string(9, 'a') + "37");
}

TEST_F(PartFilesTest, AreNotWrittenOver) {
  const PartFile file(path("0.0.part"));
  EXPECT_THROW(PartFile(path("0.0.part")), InputError);
}

TEST_F(PartFilesTest, OfAnotherRunAreRefused) {
  PartFile(path("0.0.part")).end(7, "result");
  EXPECT_THROW(results(7), InputError);
  EXPECT_EQ(n_done(results(8), 8), 1U);
  EXPECT_THROW(results(8, {"9.9.part"}), InputError);
}

}  // namespace
}  // namespace podere::classify
