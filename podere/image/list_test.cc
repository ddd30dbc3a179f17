#include "podere/image/list.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "podere/base/temporary_folder.h"
#include "podere/image/decode.h"
#include "podere/image/labels.h"
#include "podere/image/test_pictures.h"

namespace podere::image {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class PictureLists : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  void make(const std::string& name, const std::string& text = "bytes") const {
    fs::create_directories(path(name).parent_path());
    std::ofstream(path(name), std::ios::binary) << text;
  }
  static Names names(const PictureList& pictures) {
    Names all;
    for (std::size_t i = 0; i < pictures.size(); ++i) all.push_back(pictures.name(i));
    return all;
  }
  static std::string text(const PictureList& pictures, std::size_t i) {
    const auto file = pictures.read(i);
    return {file->get().begin(), file->get().end()};
  }
  std::string refusal(const std::string& name) const {
    try {
      list_pictures(path(name));
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  /// Names and contents, one after another; contents that begin with > are hard links, and | is a pipe.
  void make_archive(const std::string& name, const std::vector<std::pair<std::string, std::string>>& members,
                    bool is_packed) const {
    write_archive(name, members, &archive_write_set_format_pax_restricted, is_packed);
  }
  void pack(const std::string& name, const std::string& text) const {
    write_archive(name, {{"text", text}}, &archive_write_set_format_raw, true);
  }
  void write_archive(const std::string& name, const std::vector<std::pair<std::string, std::string>>& members,
                     int (*set_format)(archive*), bool is_packed) const {
    archive* a = archive_write_new();
    set_format(a);
    if (is_packed) archive_write_add_filter_gzip(a);
    ASSERT_EQ(archive_write_open_filename(a, path(name).c_str()), ARCHIVE_OK);
    for (const auto& [member, content] : members) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, member.c_str());
      archive_entry_set_filetype(entry, content == "|" ? AE_IFIFO : AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      if (content.starts_with('>')) archive_entry_set_hardlink(entry, content.substr(1).c_str());
      const bool has_bytes = !content.starts_with('>') && content != "|";
      archive_entry_set_size(entry, has_bytes ? static_cast<la_int64_t>(content.size()) : 0);
      ASSERT_EQ(archive_write_header(a, entry), ARCHIVE_OK);
      if (has_bytes) archive_write_data(a, content.data(), content.size());
      archive_entry_free(entry);
    }
    archive_write_close(a);
    archive_write_free(a);
  }

  TemporaryFolder folder_{fs::temp_directory_path()};
};

TEST_F(PictureLists, OfFoldersAreInTheOrderOfBytes) {
  for (const char* const name : {"d/b.tif", "d/a/z.TIFF", "d/a/c.jpeg", "d/Z.png", "d/notes.txt", "d/LABELS.csv",
                                 "d/.hidden.tif", "d/.git/x.tif", "d/_a.gif"}) {
    make(name);
  }
  const PictureList pictures = list_pictures(path("d"));
  EXPECT_EQ(names(pictures), (Names{"Z.png", "_a.gif", "a/c.jpeg", "a/z.TIFF", "b.tif"}));
  EXPECT_EQ(pictures.files().left_out.n_others, 2);
  EXPECT_EQ(pictures.title(2), (path("d") / "a/c.jpeg").string());
  EXPECT_EQ(pictures.folder(2), "a");
  EXPECT_EQ(pictures.folder(0), "");
  EXPECT_EQ(text(pictures, 3), "bytes");
  EXPECT_EQ(names(list_pictures(path("d/"))), names(pictures));
  EXPECT_EQ(names(list_pictures(path("d/*.*"))).size(), 5);  // whatever they are called
}

TEST_F(PictureLists, LinksInCirclesAndOddNamesDoNoHarm) {
  make("d/a\xff\n.tif", "odd");
  fs::create_directory_symlink("..", path("d/up"));
  fs::create_directory_symlink(".", path("d/here"));
  fs::create_directory_symlink("none", path("d/none.tif"));
  fs::create_directory_symlink("loop.tif", path("d/loop.tif"));
  ASSERT_EQ(mkfifo(path("d/pipe.tif").c_str(), 0600), 0);
  const PictureList pictures = list_pictures(path("d"));
  EXPECT_EQ(names(pictures), (Names{"a\xff\n.tif", "loop.tif", "none.tif", "pipe.tif"}));
  EXPECT_EQ(pictures.title(0).find('\n'), std::string::npos);
  EXPECT_EQ(text(pictures, 0), "odd");
  for (std::size_t i = 1; i < 4; ++i) EXPECT_THROW(pictures.read(i), PictureFault) << i;
}

TEST_F(PictureLists, MayBeWrittenDown) {
  make("d/b.tif", "b");
  make("d/a.tif", "a");
  make("d/list.txt", "b.tif\r\n\nmissing.tif\n" + path("d/a.tif").string());
  const PictureList pictures = list_pictures(path("d/list.txt"));
  ASSERT_EQ(pictures.size(), 3);
  EXPECT_EQ(text(pictures, 0), "b");
  EXPECT_EQ(text(pictures, 2), "a");
  try {
    pictures.read(1);
    FAIL();
  } catch (const PictureFault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::kUnreadable);
    EXPECT_STREQ(fault.what(), "missing.tif: cannot be read: No such file or directory");
  }
}

TEST_F(PictureLists, OfArchivesAreReadInPlace) {
  std::vector<std::pair<std::string, std::string>> members;
  for (int i = 0; i < 200; ++i) {
    members.emplace_back("./sem/tips/" + std::string(i % 7 == 0 ? 150 : 1, 'n') + std::to_string(i) + ".tif",
                         std::string(static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i % 26)));
  }
  members.emplace_back("sem/README", "text");
  members.emplace_back("./sem/tips/._n1.tif", "of another system");
  members.emplace_back("./sem/tips/n1.tif", "anew");
  for (const bool is_packed : {false, true}) {
    const std::string file = is_packed ? "p.tar.gz" : "p.tar";
    make_archive(file, members, is_packed);
    const PictureList pictures = list_pictures(path(file));
    ASSERT_EQ(pictures.size(), 200);  // the first of n1.tif is replaced
    EXPECT_EQ(pictures.files().left_out.n_others, 1);
    EXPECT_EQ(pictures.files().left_out.n_replaced, 1);
    EXPECT_EQ(pictures.name(1), members[2].first.substr(2));
    EXPECT_EQ(text(pictures, 199), "anew");
    for (const std::size_t i : {150U, 3U, 4U, 198U, 0U, 66U}) {
      EXPECT_EQ(text(pictures, i), members[i == 0 ? 0 : i + 1].second) << i;
    }
    EXPECT_TRUE(pictures.title(0).starts_with(path(file).string() + ": sem/tips/n"));
    std::vector<std::thread> threads;
    std::vector<int> n_wrong(4, 0);
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 1 + t; i < 199; i += 4) {
          if (text(pictures, i) != members[i + 1].second) ++n_wrong[t];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(n_wrong, std::vector<int>(4, 0));
  }
}

TEST_F(PictureLists, AreReopenedByTheirNames) {
  make("d/x/a.tif", "a");
  make("d/b.tif", "b");
  make("d/list.txt", "b.tif\nx/a.tif\n");
  make_archive("p.tar", {{"x/a.tif", "a"}, {"b.tif", "b"}, {"README", "text"}}, false);
  for (const char* const name : {"d", "d/", "d/*.tif", "d/list.txt", "p.tar", "d/b.tif"}) {
    const PictureList before = list_pictures(path(name));
    Names wanted = before.files().names;
    std::ranges::reverse(wanted);
    wanted.emplace_back("gone.tif");
    const PictureList pictures = reopen_pictures(path(name), {wanted, before.files().left_out});
    ASSERT_EQ(names(pictures), wanted) << name;
    EXPECT_EQ(pictures.files().left_out.n_others, before.files().left_out.n_others) << name;
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(text(pictures, i), text(before, before.size() - 1 - i)) << name;
      EXPECT_EQ(pictures.title(i), before.title(before.size() - 1 - i)) << name;
    }
    EXPECT_THROW(pictures.read(before.size()), PictureFault) << name;
  }
}

TEST_F(PictureLists, OfAnArchiveAreReopenedWithoutGoingThroughIt) {
  for (const bool is_packed : {false, true}) {
    const std::string file = is_packed ? "p.tar.gz" : "p.tar";
    const std::vector<std::pair<std::string, std::string>> members = {
        {"b.tif", "b"}, {"a.tif", "replaced"}, {"README", "text"}, {"a.tif", "a"}, {"c.tif", "c"}};
    make_archive(file, members, is_packed);
    const PictureList before = list_pictures(path(file));
    const auto reopened = [&](const std::string& places) {
      return reopen_pictures(path(file), {before.files().names, before.files().left_out, places});
    };
    // Other names for the same places: what is read shows that the archive was not searched for them.
    const PictureList renamed = reopen_pictures(path(file), {{"x.tif", "y.tif", "z.tif"}, {}, before.files().places});
    for (const std::size_t i : {2U, 0U, 1U}) EXPECT_EQ(text(renamed, i), text(before, i)) << i;
    for (const std::string& places : {before.files().places, std::string(), std::string("plain\n0 0.0\n7\n8\n9"),
                                      before.files().places + "\n7", before.files().places + "x"}) {
      const PictureList pictures = reopened(places);
      for (const std::size_t i : {2U, 0U, 1U}) EXPECT_EQ(text(pictures, i), text(before, i)) << places << i;
    }
    // Another archive of the same names.
    make_archive(file, {{"c.tif", "third"}, {"a.tif", "first"}, {"b.tif", "second one"}}, is_packed);
    const PictureList pictures = reopened(before.files().places);
    EXPECT_EQ(text(pictures, 0), "second one");
    EXPECT_EQ(text(pictures, 1), "first");
    EXPECT_EQ(text(pictures, 2), "third");
  }
}

TEST_F(PictureLists, NothingIsRefused) {
  fs::create_directory(path("empty"));
  make("texts/a.txt");
  make("bad.tar", std::string(2000, 'x'));
  EXPECT_NE(refusal("empty").find("has no pictures; pictures are files whose names end with .tif"), std::string::npos);
  EXPECT_NE(refusal("texts").find("has no pictures, but 1 other files"), std::string::npos);
  EXPECT_NE(refusal("none").find("there is no such folder, archive, list or picture"), std::string::npos);
  EXPECT_NE(refusal("*.tif").find("has no pictures"), std::string::npos);
  EXPECT_NE(refusal("bad.tar").find("cannot be read as a tar archive"), std::string::npos);
}

TEST_F(PictureLists, ArchivesThatLackPartsAreRefused) {
  make_archive("p.tar", {{"a.tif", std::string(512, 'a')}, {"b.tif", std::string(512, 'b')}}, false);
  std::ifstream file(path("p.tar"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (const bool is_packed : {false, true}) {
    const std::string name = is_packed ? "q.tar.gz" : "q.tar";
    const auto refusal_of = [&](const std::string& text) {
      is_packed ? pack(name, text) : make(name, text);
      return refusal(name);
    };
    EXPECT_EQ(refusal_of(whole), "");
    EXPECT_NE(refusal_of(whole.substr(0, 1024)).find("it may be cut off"), std::string::npos);  // behind the first
    EXPECT_NE(refusal_of(whole.substr(0, 1300)).find("cannot be read as a tar archive"), std::string::npos);
    std::string lost = whole;
    lost.replace(1024, 512, std::string(512, '\0'));  // the second header
    EXPECT_NE(refusal_of(lost).find("cannot be read as a tar archive"), std::string::npos);
    EXPECT_EQ(refusal_of(whole + whole), "");
    EXPECT_EQ(names(list_pictures(path(name))), (Names{"a.tif", "b.tif"}));
    make_archive(name, {{"a.tif", "a"}, {"l.tif", ">a.tif"}}, is_packed);
    EXPECT_NE(refusal(name).find("l.tif is a link, and links in archives are not followed"), std::string::npos);
    make_archive(name, {{"a.tif", "a"}, {"p.tif", "|"}}, is_packed);
    const PictureList pictures = list_pictures(path(name));
    EXPECT_EQ(names(pictures), (Names{"a.tif"}));
    EXPECT_EQ(pictures.files().left_out.n_others, 1);
  }
}

TEST_F(PictureLists, LabelsAreFolders) {
  for (const char* const name : {"d/tips/a.tif", "d/films/x/b.tif"}) make(name);
  EXPECT_EQ(folder_labels(list_pictures(path("d"))), (Names{"films", "tips"}));
  EXPECT_EQ(folder_labels(list_pictures(path("d/tips"))), Names());
  EXPECT_EQ(folder_labels(list_pictures(path("d/*"))), (Names{"films", "tips"}));
  make("d/c.tif");
  EXPECT_THROW(folder_labels(list_pictures(path("d"))), InputError);
}

TEST_F(PictureLists, LabelsMayBeInAFile) {
  for (const char* const name : {"d/1/a.tif", "d/2/a.tif", "d/b.tif", "d/c,d.tif"}) make(name);
  const PictureList pictures = list_pictures(path("d"));
  const auto labels = [&](const std::string& text) {
    make("l.csv", text);
    try {
      return file_labels(pictures, path("l.csv"));
    } catch (const InputError& error) {
      return Names{error.what()};
    }
  };
  EXPECT_EQ(labels("file,kind\n1/a.tif,one\n2/a.tif,two\nb.tif,\"b, \"\"c\"\"\"\nother.tif,x\n"),
            (Names{"one", "two", "b, \"c\"", ""}));
  EXPECT_EQ(labels("1/a.tif;one\r\n\"c,d.tif\"\tcd\r\n"), (Names{"one", "", "", "cd"}));
  EXPECT_NE(labels("a.tif,x\n")[0].find("line 1: 'a.tif' is the name of several pictures"), std::string::npos);
  EXPECT_NE(labels("b.tif,x\nb.tif,y\n")[0].find("line 2: 'b.tif' has a label in line 1 already"), std::string::npos);
  EXPECT_NE(labels("b.tif,x,y\n")[0].find("line 1: has more than 2 columns"), std::string::npos);
  EXPECT_NE(labels("b.tif\n")[0].find("line 1: has fewer than 2 columns"), std::string::npos);
  EXPECT_NE(labels("other.tif,x\n")[0].find("has no label of a picture"), std::string::npos);
}

/// The pages of made/pages.tif have these sizes.
const std::vector<std::pair<std::uint32_t, std::uint32_t>> kPageSizes = {{61, 47}, {20, 30}, {61, 47}};

TEST_F(PictureLists, AllPagesAreFoundWhereTheyAreAskedFor) {
  const auto stack = bytes_of(kTestPictures / "made/pages.tif");
  const std::string pages(stack.begin(), stack.end());
  make("d/x/b.tif", pages);
  make("d/a.tif", "II*\0 damaged");
  make("d/c.tif", pages);
  make("d/d.tif", "");
  fs::copy(kTestPictures / "made/L.png", path("d/e.png"));
  make("d/list.txt", "a.tif\nc.tif\nd.tif\ne.png\nx/b.tif\n");
  make_archive("p.tar.gz", {{"a.tif", "II*\0"}, {"c.tif", pages}, {"d.tif", ""}, {"e.png", "x"}, {"x/b.tif", pages}},
               true);
  const Names wanted = {"a.tif", "c.tif[0]",   "c.tif[1]",   "c.tif[2]",  "d.tif",
                        "e.png", "x/b.tif[0]", "x/b.tif[1]", "x/b.tif[2]"};
  for (const char* const name : {"d", "d/list.txt", "p.tar.gz"}) {
    EXPECT_EQ(list_pictures(path(name)).size(), 5) << name;
    const PictureList found = list_pictures(path(name), Pages::kAll);
    for (const PictureList& pictures : {found, reopen_pictures(path(name), found.files())}) {
      ASSERT_EQ(names(pictures), wanted) << name;
      EXPECT_EQ(pictures.file_name(8), "x/b.tif");
      EXPECT_EQ(pictures.folder(8), "x");
      EXPECT_TRUE(pictures.title(8).ends_with("x/b.tif[2]")) << pictures.title(8);
      // In an order in which the file that is kept changes.
      for (const std::size_t i : {1U, 8U, 3U, 2U, 6U, 7U}) {
        const auto page = static_cast<std::uint32_t>((i - 1) % 5);
        EXPECT_EQ(pictures.page(i), page);
        const auto file = pictures.read(i);
        EXPECT_EQ(file->get(), stack);
        const Picture picture = decode(file->get(), pictures.title(i), {.page = pictures.page(i)});
        EXPECT_EQ(std::pair(picture.width, picture.height), kPageSizes[page]);
      }
      EXPECT_EQ(pictures.read(6), pictures.read(8)) << "the same bytes, not a copy";
    }
  }
}

TEST_F(PictureLists, NoPageOfAStackThatIsCutOffIsLostInSilence) {
  const auto stack = bytes_of(kTestPictures / "made/pages.tif");
  const auto n_found = [&](std::size_t n_bytes) {
    const std::string pages(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(n_bytes));
    make("d/a.tif", pages);
    make_archive("p.tar", {{"a.tif", pages}}, false);
    const PictureList pictures = list_pictures(path("d"), Pages::kAll);
    EXPECT_EQ(list_pictures(path("p.tar"), Pages::kAll).size(), pictures.size()) << n_bytes;
    std::size_t n_decoded = 0;
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      try {
        decode(pictures.read(i)->get(), pictures.title(i), {.page = pictures.page(i)});
        ++n_decoded;
      } catch (const PictureFault&) {
        EXPECT_LT(n_bytes, stack.size());
      }
    }
    return std::pair(pictures.size(), n_decoded);
  };
  EXPECT_EQ(n_found(stack.size()), (std::pair<std::size_t, std::size_t>(3, 3)));
  for (std::size_t n_bytes = 0; n_bytes < stack.size(); n_bytes += 97) {
    const auto [n, n_decoded] = n_found(n_bytes);
    EXPECT_TRUE(n_decoded < n || n_decoded == 3) << n_bytes << ": " << n_decoded << " of " << n;
  }
}

TEST_F(PictureLists, LabelsOfAFileAreThoseOfAllItsPages) {
  fs::create_directories(path("d/x"));
  for (const char* const name : {"d/a.tif", "d/x/b.tif"}) fs::copy(kTestPictures / "made/pages.tif", path(name));
  const PictureList pictures = list_pictures(path("d"), Pages::kAll);
  make("l.csv", "a.tif,one\nx/b.tif[1],two\nb.tif[2],three\n");
  EXPECT_EQ(file_labels(pictures, path("l.csv")), (Names{"one", "one", "one", "", "two", "three"}));
  make("l.csv", "a.tif,one\na.tif[1],two\n");
  EXPECT_THROW(file_labels(pictures, path("l.csv")), InputError);
  EXPECT_EQ(folder_labels(list_pictures(path("d/x"), Pages::kAll)), Names());
}

}  // namespace
}  // namespace podere::image
