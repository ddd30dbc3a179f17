#include "podere/classify/feature_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "podere/base/hash.h"
#include "podere/base/sha256.h"
#include "podere/base/temporary_folder.h"

namespace podere::classify {
namespace {

namespace fs = std::filesystem;

std::string key_of(int picture) { return sha256_of(std::to_string(picture)); }

std::vector<float> values_of(int picture, std::size_t n = 5) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(uniform01(hash64(1, static_cast<std::uint64_t>(picture), i)));
  }
  return values;
}

class FeatureCacheTest : public ::testing::Test {
 protected:
  FeatureCacheOptions options(const std::string& network = "network") const {
    return {.folder = fs::path(folder_.path()) / "cache", .fingerprint = network, .n_values = 5};
  }
  static void add(const FeatureCacheOptions& options, int begin, int end) {
    FeatureCache cache(options);
    for (int i = begin; i < end; ++i) cache.add(key_of(i), values_of(i));
  }
  /// How many of the pictures are found; each as it was added.
  static int count(const FeatureCache& cache, int begin, int end) {
    int n = 0;
    for (int i = begin; i < end; ++i) {
      std::vector<float> values(5);
      if (!cache.find(key_of(i), values)) continue;
      EXPECT_EQ(values, values_of(i));
      ++n;
    }
    return n;
  }
  static int count(const FeatureCacheOptions& options, int begin, int end) {
    return count(FeatureCache(options), begin, end);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
  }

  TemporaryFolder folder_{fs::temp_directory_path()};
};

TEST_F(FeatureCacheTest, HasWhatWasAddedByThisAndOtherProcesses) {
  {
    FeatureCache cache(options());
    EXPECT_EQ(count(cache, 0, 10), 0);
    for (int i = 0; i < 10; ++i) cache.add(key_of(i), values_of(i));
    EXPECT_EQ(count(cache, 0, 20), 10);
  }
  EXPECT_EQ(count(options(), 0, 20), 10);
  EXPECT_EQ(count(options("another"), 0, 20), 0);
  add(options(), 10, 15);
  EXPECT_EQ(files().size(), 1U);  // one after the other they use the same
  EXPECT_EQ(count(options(), 0, 20), 15);
}

TEST_F(FeatureCacheTest, ManyMayAddAtTheSameTime) {
  std::vector<std::thread> processes;
  for (int p = 0; p < 4; ++p) {
    processes.emplace_back([&, p] {
      FeatureCache cache(options());
      std::vector<std::thread> threads;
      for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&, t] {
          for (int i = t; i < 60; i += 3) cache.add(key_of(100 * p + i), values_of(100 * p + i));
        });
      }
      for (std::thread& thread : threads) thread.join();
    });
  }
  for (std::thread& process : processes) process.join();
  EXPECT_EQ(count(options(), 0, 400), 240);
}

TEST_F(FeatureCacheTest, WhatIsCutOffOrDamagedIsNotThere) {
  add(options(), 0, 10);
  const fs::path file = files().front();
  const auto n_bytes = fs::file_size(file);
  fs::resize_file(file, n_bytes - 1);
  EXPECT_EQ(count(options(), 0, 10), 9);
  add(options(), 20, 22);  // behind the nine
  EXPECT_EQ(count(options(), 0, 30), 11);
  std::fstream content(file, std::ios::in | std::ios::out | std::ios::binary);
  for (std::uintmax_t at = 3; at < fs::file_size(file); at += n_bytes / 10) {
    const int before = count(options(), 0, 30);
    content.seekg(static_cast<std::streamoff>(at));
    const int byte = content.get();
    content.seekp(static_cast<std::streamoff>(at + at / (n_bytes / 10) * 7));  // in key, values and check
    content.put(static_cast<char>(byte ^ 0x55));
    content.flush();
    EXPECT_EQ(count(options(), 0, 30), before - 1);
  }
  EXPECT_EQ(count(options(), 0, 30), 0);
}

TEST_F(FeatureCacheTest, NetworksThatWereNotUsedForTheLongestTimeGo) {
  add(options("a"), 0, 10);
  const auto bytes_of_ten = fs::file_size(files().front());
  add(options("b"), 0, 10);
  add(options("c"), 0, 10);
  for (const fs::path& file : files()) {  // clocks of files may be coarse
    fs::last_write_time(file.parent_path(), fs::last_write_time(file.parent_path()) - std::chrono::seconds(100));
  }
  EXPECT_EQ(count(options("c"), 0, 1), 1);
  EXPECT_EQ(count(options("a"), 0, 10), 10);  // used once more
  FeatureCacheOptions d = options("d");
  d.most_bytes = bytes_of_ten * 5 / 2;
  add(d, 0, 10);
  EXPECT_EQ(count(options("a"), 0, 10) + count(options("c"), 0, 10), 20);
  EXPECT_EQ(count(options("b"), 0, 10), 0);
  EXPECT_EQ(count(options("d"), 0, 10), 5);  // as many as there was room for
  d.n_writers = 5;
  d.most_bytes = bytes_of_ten * 35 / 10;
  add(d, 10, 20);
  EXPECT_EQ(count(options("d"), 0, 20), 7);  // a fifth of the room for ten more
}

TEST_F(FeatureCacheTest, WhereItIsFullOthersMakeRoom) {
  add(options("a"), 0, 10);
  const auto bytes_of_ten = fs::file_size(files().front());
  add(options("b"), 0, 10);
  const auto a_folder = files().front().parent_path();
  for (const fs::path& file : files()) {
    fs::last_write_time(file.parent_path(), fs::last_write_time(file.parent_path()) - std::chrono::seconds(100));
  }
  EXPECT_EQ(count(options("b"), 0, 1), 1);  // used once more
  FeatureCacheOptions c = options("c");
  c.most_bytes = 2 * bytes_of_ten;
  c.n_pictures = 10;
  add(c, 0, 10);
  EXPECT_EQ(count(options("c"), 0, 10), 10);
  EXPECT_EQ(count(options("b"), 0, 10), 10);
  EXPECT_EQ(count(options("a"), 0, 10), 0);
  add(c, 0, 10);  // again: nothing is to be added, and nothing goes
  EXPECT_EQ(count(options("b"), 0, 10), 10);
}

TEST_F(FeatureCacheTest, WhatElseIsInTheFolderStays) {
  const fs::path folder = options().folder;
  const std::vector<fs::path> others = {folder / "thesis/results.features", folder / "notes.txt",
                                        folder / std::string(32, 'z') / "a.features"};
  for (const fs::path& file : others) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << std::string(10'000, 'x');
  }
  add(options("a"), 0, 10);
  FeatureCacheOptions b = options("b");
  b.most_bytes = 1;
  add(b, 0, 1);
  EXPECT_EQ(count(options("a"), 0, 10), 0);
  for (const fs::path& file : others) EXPECT_EQ(fs::file_size(file), 10'000U) << file;
}

TEST_F(FeatureCacheTest, ADiskThatTakesNothingIsNoFailure) {
  FeatureCacheOptions nowhere = options();
  std::ofstream(fs::path(folder_.path()) / "file") << "no folder";
  nowhere.folder = fs::path(folder_.path()) / "file/cache";
  add(nowhere, 0, 3);
  EXPECT_EQ(count(nowhere, 0, 3), 0);
  FeatureCacheOptions odd = options();
  fs::create_directories(odd.folder / "odd");
  std::ofstream(odd.folder / "stray") << "text";
  add(odd, 0, 3);
  EXPECT_EQ(count(odd, 0, 3), 3);
}

}  // namespace
}  // namespace podere::classify
