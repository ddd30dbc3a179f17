#include "podere/io/file_list.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

class FileList : public testing::Test {
 protected:
  void make(const std::string& name) {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << "x";
  }
  std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  /// What is listed: paths below the folder, with values of folders behind; or why nothing is.
  std::vector<std::string> list(const std::string& location) const {
    std::vector<std::string> names;
    try {
      for (const ListedFile& file : list_files(in(location))) {
        names.push_back(fs::path(file.path).lexically_relative(folder_.path()));
        for (const auto& [name, value] : file.values) names.back() += " " + name + ":" + value;
      }
    } catch (const InputError& error) {
      return {error.what()};
    }
    return names;
  }

  TemporaryFolder folder_{fs::temp_directory_path()};
};

using Names = std::vector<std::string>;

TEST_F(FileList, AFileIsItself) {
  make("a.csv");
  make("b*.csv");
  make("bc.csv");
  EXPECT_EQ(list("a.csv"), Names{"a.csv"});
  EXPECT_EQ(list("none.csv"), Names{"none.csv"});
  EXPECT_EQ(list("b*.csv"), Names{"b*.csv"});  // there is a file of this name
  EXPECT_FALSE(may_be_many(in("b*.csv")));
}

TEST_F(FileList, AFolderIsAllThatIsNotHidden) {
  for (const char* const name : {"t/b.csv", "t/a.csv", "t/x/c.csv", "t/_SUCCESS", "t/.a.csv.crc", "t/_old/d.csv"})
    make(name);
  EXPECT_EQ(list("t"), (Names{"t/a.csv", "t/b.csv", "t/x/c.csv"}));
  EXPECT_EQ(list("t/[ab].csv"), (Names{"t/a.csv", "t/b.csv"}));
  EXPECT_EQ(list("?"), (Names{"t/a.csv", "t/b.csv", "t/x/c.csv"}));
  EXPECT_TRUE(may_be_many(in("t")));
}

TEST_F(FileList, FoldersGiveValues) {
  for (const char* const name : {"t/year=2020/s=a%20b/x", "t/year=2021/s=__HIVE_DEFAULT_PARTITION__/x"}) make(name);
  EXPECT_EQ(list("t"), (Names{"t/year=2020/s=a%20b/x year:2020 s:a b",
                              "t/year=2021/s=__HIVE_DEFAULT_PARTITION__/x year:2021 s:"}));
  EXPECT_EQ(list("t/year=2020"), Names{"t/year=2020/s=a%20b/x s:a b"});
  EXPECT_EQ(list("t/year=*1/*"), Names{"t/year=2021/s=__HIVE_DEFAULT_PARTITION__/x year:2021 s:"});
  make("t/y=1/x");
  EXPECT_NE(list("t")[0].find("do not give values to the same names"), std::string::npos);
}

TEST_F(FileList, NothingIsRefused) {
  fs::create_directory(folder_.path() / "empty");
  EXPECT_NE(list("empty")[0].find("the folder has no files"), std::string::npos);
  EXPECT_NE(list("*.csv")[0].find("no file fits this pattern"), std::string::npos);
  EXPECT_NE(list("**.csv")[0].find("** is not known"), std::string::npos);
  fs::create_directory_symlink(folder_.path(), folder_.path() / "empty/circle");
  EXPECT_NE(list("empty")[0].find("empty"), std::string::npos);
}

}  // namespace
}  // namespace podere::io
