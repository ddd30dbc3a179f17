#include "podere/source/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/collider/higgs.h"

namespace podere::source {
namespace {

TEST(Load, RefusesEventsThatAreMalformed) {
  const auto comm = comm::Communicator::self();
  for (const char* text : {"collider:", "collider:x", "collider:-1", "collider:1.5", "collider:10?",
                           "collider:10?seed=", "collider:10?sed=1", "collider:10?seed=a", "collider:10&seed=1"}) {
    EXPECT_THROW(load({text, {}}, false, comm, 1), InputError) << text;
  }
}

TEST(Load, GivesTheEventsAskedFor) {
  const auto comm = comm::Communicator::self();
  const auto table = load({"collider:50?seed=9", {.first_row = 10, .last_row = 30}}, true, comm, 2);
  ASSERT_EQ(table.n_global_rows(), 20u);
  EXPECT_EQ(table.label()[0], collider::generate_event(9, 10).label);
  EXPECT_EQ(table.feature(27)[19], collider::generate_event(9, 29).features[27]);
}

TEST(Load, RefusesEventsThatAreNotThereAndChoicesThatDoNotApply) {
  const auto comm = comm::Communicator::self();
  EXPECT_THROW(load({"collider:0", {}}, false, comm, 1), InputError);
  EXPECT_THROW(load({"collider:50", {.first_row = 50}}, false, comm, 1), InputError);
  EXPECT_THROW(load({.location = "collider:50", .label = "1"}, true, comm, 1), InputError);
}

/// A folder with files of the formats, and who reads them.
class FilesTest : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
    return (folder_.path() / name).string();
  }
  static std::string refusal_of(const SourceSpec& spec, bool needs_label = false) {
    try {
      load(spec, needs_label, comm::Communicator::self(), 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "not refused";
  }

  TemporaryFolder folder_{std::filesystem::temp_directory_path()};
  comm::Communicator comm_ = comm::Communicator::self();
  const std::string images_ = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x01", 16) + "ab";
  const std::string labels_ = std::string("\0\0\x08\x01\0\0\0\x02\x01\0", 10);
};

TEST_F(FilesTest, LabelsOfAnIdxFileAreThoseBesideItUnlessOthersAreGiven) {
  const std::string path = write("x-images-idx3-ubyte", images_);
  EXPECT_EQ(load({path, {}}, false, comm_, 1).schema().label, std::nullopt);
  EXPECT_EQ(refusal_of({path, {}}, true), path + ": has no labels: there is no " +
                                              (folder_.path() / "x-labels-idx1-ubyte").string() +
                                              "; say where they are with --labels");
  write("x-labels-idx1-ubyte", labels_);
  EXPECT_EQ(load({path, {}}, false, comm_, 1).label()[0], 1);
  EXPECT_EQ(open({path, {}}, true, comm_, 1)->labels().label()[0], 1);
  const std::string other = write("other", std::string(labels_).replace(8, 1, "\7"));
  EXPECT_EQ(load({.location = path, .labels = other}, true, comm_, 1).label()[0], 7);
  EXPECT_NE(refusal_of({write("digits", images_), {}}, true).find("beside a file with images in its name"),
            std::string::npos);
}

TEST_F(FilesTest, ALibsvmFileIsKnownByItsNameOrByAnOption) {
  const std::string rows = "1 1:2\n0 4:1\n";
  EXPECT_EQ(load({write("a.svm", rows), {}}, true, comm_, 1).n_features(), 4);
  EXPECT_EQ(open({write("a.svm", rows), {}}, true, comm_, 1)->schema().features.size(), 4);
  const std::string path = write("a9a", rows);
  EXPECT_EQ(load({.location = path, .format = "libsvm"}, true, comm_, 1).n_features(), 4);
  EXPECT_EQ(load({.location = path, .format = "libsvm", .n_features = 9}, true, comm_, 1).n_features(), 9);
}

TEST_F(FilesTest, WhatAFormatDoesNotHaveIsRefused) {
  EXPECT_EQ(refusal_of({.location = "/absent", .format = "idx"}), "/absent: cannot be read: No such file or directory");
  const std::string csv = write("a.csv", "1,2\n"), svm = write("a.svm", "1 1:2\n"), idx = write("a.idx", images_);
  EXPECT_NE(refusal_of({.location = csv, .labels = idx}).find("labels cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = csv, .n_features = 3}).find("features cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = csv, .zero_based = true}).find("zero-based cannot"), std::string::npos);
  EXPECT_NE(refusal_of({.location = svm, .label = "0"}).find("label cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = svm, .categorical = {"f1"}}).find("categorical cannot be chosen"),
            std::string::npos);
  EXPECT_NE(refusal_of({.location = svm, .header = true}).find("header cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = idx, .weight = "0"}).find("weight cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = idx, .missing = {"0"}}).find("missing cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = idx, .delimiter = ' '}).find("delimiter cannot be chosen"), std::string::npos);
  EXPECT_NE(refusal_of({.location = csv, .format = "idx"}).find("begin with two bytes 0"), std::string::npos);
  EXPECT_NE(refusal_of({.location = "collider:5", .format = "csv"}).find("format cannot"), std::string::npos);
}

TEST(MakeAbsolute, ChangesPathsOnly) {
  const auto absolute = [](SourceSpec spec) {
    make_absolute(spec);
    return spec.location;
  };
  EXPECT_EQ(absolute({"a.csv", {}}), (std::filesystem::current_path() / "a.csv").string());
  EXPECT_EQ(absolute({"foo:bar", {}}), (std::filesystem::current_path() / "foo:bar").string());
  EXPECT_EQ(absolute({"collider:5?seed=1", {}}), "collider:5?seed=1");
  EXPECT_EQ(absolute({"table:a", {}}), "table:a");
  EXPECT_EQ(absolute({.location = "put:a", .arrays = io::RemoteArrays{}}), "put:a");
}

TEST(Load, RefusesAFileThatIsNotThere) {
  const auto comm = comm::Communicator::self();
  EXPECT_THROW(load({"no-such-file.csv", {}}, true, comm, 1), InputError);
}

}  // namespace
}  // namespace podere::source
