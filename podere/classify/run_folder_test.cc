#include "podere/classify/run_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/classify/part_files.h"
#include "podere/image/test_pictures.h"

namespace podere::classify {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() { fs::create_directories(pictures_); }

  RunFolder open(const Json& settings = {{"model", "abc"}, {"top", 5}}) const { return {folder_, settings, comm_}; }
  image::PictureList pictures(const RunFolder& run, image::Pages pages = image::Pages::kFirst) const {
    return run.pictures(pictures_, pages, comm_);
  }
  /// A run that did something, and ended.
  void run_once() const {
    const RunFolder run = open();
    pictures(run);
    PartFile(run.part(0)).end(0, "result");
  }
  void add_picture(const std::string& name) const { write(pictures_ / name, "x"); }

  static void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The message of the InputError that `body` throws, or "no error".
  static std::string refusal(const std::function<void()>& body) {
    try {
      body();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

  const TemporaryFolder here_{fs::temp_directory_path()};
  const fs::path folder_ = here_.path() / "labels.csv.parts";
  const fs::path pictures_ = here_.path() / "pictures";
  const comm::Communicator comm_ = comm::Communicator::self();
};

TEST_F(RunFolderTest, EachRunHasPartFilesThatNoneBeforeHad) {
  add_picture("a.tif");
  {
    const RunFolder first = open();
    EXPECT_TRUE(first.earlier_parts().empty());
    EXPECT_EQ(first.part(1), folder_ / "0.1.part");
  }
  run_once();
  write(folder_ / "11.3.part", "");
  write(folder_ / "2.0.part", "");
  write(folder_ / "notes.part", "of no run");
  const RunFolder next = open();
  EXPECT_EQ(next.part(0), folder_ / "12.0.part");
  EXPECT_EQ(next.earlier_parts(),
            (std::vector<fs::path>{folder_ / "0.0.part", folder_ / "2.0.part", folder_ / "11.3.part"}));
}

TEST_F(RunFolderTest, OtherSettingsAreRefusedByTheirName) {
  add_picture("a.tif");
  run_once();
  EXPECT_EQ(refusal([&] { open(); }), "no error");
  EXPECT_EQ(refusal([&] {
              open({{"model", "abc"}, {"top", 4}});
            }),
            folder_.string() + ": is of a run with other settings (top): remove it to begin anew");
  EXPECT_NE(refusal([&] { open({{"model", "abc"}, {"top", "5"}}); }).find("(top)"), std::string::npos);
  EXPECT_NE(refusal([&] { open({{"model", "abc"}, {"top", 5}, {"layer", ""}}); }).find("(layer)"), std::string::npos);
}

TEST_F(RunFolderTest, DamagedSettingsAreRefused) {
  add_picture("a.tif");
  run_once();
  const std::string whole = read(folder_ / "run.json");
  const std::size_t n_text = whole.find_last_not_of('\n') + 1;
  for (std::size_t n = 0; n < n_text; ++n) {
    write(folder_ / "run.json", whole.substr(0, n));
    EXPECT_EQ(refusal([&] { open(); }), (folder_ / "run.json").string() + ": is damaged: remove " + folder_.string());
  }
  for (const char* const other : {"[]", "null", "7", "\"model\"", "{}"}) {
    write(folder_ / "run.json", other);
    EXPECT_NE(refusal([&] { open(); }).find("is of a run with other settings (model)"), std::string::npos) << other;
  }
}

TEST_F(RunFolderTest, PartsWithoutWhatTheyArePartsOfAreRefused) {
  add_picture("a.tif");
  for (const char* const name : {"run.json", "pictures.list"}) {
    fs::remove_all(folder_);
    run_once();
    fs::remove(folder_ / name);
    EXPECT_EQ(refusal([&] { open(); }), folder_.string() + ": has no file " + name +
                                            " of the run whose parts it has: remove " + folder_.string() +
                                            " to begin anew");
    fs::create_directory(folder_ / name);
    EXPECT_NE(refusal([&] { open(); }).find("no file"), std::string::npos) << "of a folder with that name";
  }
}

TEST_F(RunFolderTest, ThePicturesAreThoseOfTheFirstRun) {
  const std::string odd = "line\nbreak \xff.png";
  for (const std::string& name : {odd, std::string("a.tif"), std::string("b.tif"), std::string("README")}) {
    add_picture(name);
  }
  run_once();
  add_picture("aa.tif");
  fs::remove(pictures_ / "b.tif");
  const image::PictureList again = pictures(open());
  EXPECT_EQ(again.files().names, (std::vector<std::string>{"a.tif", "b.tif", odd}));
  EXPECT_EQ(again.files().left_out.n_others, 1U);
  EXPECT_EQ(again.read(2)->get(), std::vector<std::uint8_t>{'x'});
  EXPECT_THROW(again.read(1), image::PictureFault);
}

TEST_F(RunFolderTest, ThePagesAreThoseOfTheFirstRun) {
  add_picture("b.tif");
  fs::copy(image::kTestPictures / "made/pages.tif", pictures_ / "a.tif");
  EXPECT_EQ(pictures(open(), image::Pages::kAll).files().n_pages, (std::vector<std::uint32_t>{3, 1}));
  add_picture("a.tif");  // which has one page
  EXPECT_EQ(pictures(open(), image::Pages::kAll).files().n_pages, (std::vector<std::uint32_t>{3, 1}));
}

TEST_F(RunFolderTest, ADamagedListOfPicturesIsRefused) {
  add_picture("a.tif");
  add_picture("b.tif");
  run_once();
  const std::string whole = read(folder_ / "pictures.list");
  const std::string message = (folder_ / "pictures.list").string() + ": is damaged: remove " + folder_.string();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    write(folder_ / "pictures.list", whole.substr(0, i));
    EXPECT_EQ(refusal([&] { pictures(open()); }), message) << "cut at " << i;
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write(folder_ / "pictures.list", changed);
    EXPECT_EQ(refusal([&] { pictures(open()); }), message) << "changed at " << i;
  }
  write(folder_ / "pictures.list", whole + "c.tif" + '\0');
  EXPECT_EQ(refusal([&] { pictures(open()); }), message);
  write(folder_ / "pictures.list", whole);
  EXPECT_EQ(pictures(open()).size(), 2U);
}

TEST_F(RunFolderTest, AFolderThatCannotBeMadeOrReadIsTheUsersToMend) {
  write(folder_, "a file");
  EXPECT_EQ(refusal([&] { open(); }), folder_.string() + ": cannot be made: Not a directory");
  fs::remove(folder_);
  write(here_.path() / "file", "");
  const fs::path below = here_.path() / "file" / "labels.csv.parts";
  EXPECT_EQ(refusal([&] { RunFolder(below, {}, comm_); }), below.string() + ": cannot be made: Not a directory");
  fs::create_directory_symlink(folder_, folder_);
  EXPECT_NE(refusal([&] { open(); }).find("cannot be made: "), std::string::npos) << "of a link to itself";
}

TEST_F(RunFolderTest, WhatARunKeepsIsCountedAndRemovedAndNothingElse) {
  EXPECT_EQ(result_bytes(folder_), 0U);
  add_picture("a.tif");
  run_once();
  const std::uintmax_t n_bytes = fs::file_size(folder_ / "0.0.part");
  write(folder_ / "contact_sheet.html", "a page");
  write(folder_ / "notes.txt", "of the user");
  fs::create_directory(folder_ / "folder.part");
  EXPECT_EQ(result_bytes(folder_), n_bytes);
  write(folder_ / "1.0.part", "123");
  EXPECT_EQ(result_bytes(folder_), n_bytes + 3);
  remove_run(folder_);
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder_)) left.push_back(entry.path().filename());
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"folder.part", "notes.txt"}));
  EXPECT_EQ(result_bytes(folder_), 0U);
}

}  // namespace
}  // namespace podere::classify
