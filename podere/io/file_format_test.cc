#include "podere/io/file_format.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

TEST(FileFormat, IsFoundByContentThenByName) {
  const TemporaryFolder temporary(std::filesystem::temp_directory_path());
  const std::filesystem::path& folder = temporary.path();
  const auto format_of = [&](const char* name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return find_format(folder / name);
  };
  const std::string idx("\0\0\x08\x01", 4);
  EXPECT_EQ(format_of("a.csv", "1,2\n"), FileFormat::kCsv);
  EXPECT_EQ(format_of("a", ""), FileFormat::kCsv);
  EXPECT_EQ(format_of("images", idx), FileFormat::kIdx);
  EXPECT_EQ(format_of("images.gz", gzip(idx)), FileFormat::kIdx);
  EXPECT_EQ(format_of("images.svm", idx), FileFormat::kIdx);
  for (const char* name : {"a.svm", "a.svmlight", "a.libsvm", "a.b.svm.gz", "a.libsvm.gz"}) {
    EXPECT_EQ(format_of(name, "1 1:1\n"), FileFormat::kLibsvm) << name;
  }
  EXPECT_EQ(format_of("svm", "1 1:1\n"), FileFormat::kCsv);
  EXPECT_EQ(format_of("a.svm.csv", "1 1:1\n"), FileFormat::kCsv);
  EXPECT_THROW(find_format(folder / "absent.svm"), InputError);
}

TEST(FileFormat, FilesOfOtherKindsAreNamed) {
  const auto told_of = [](const std::string& content) -> std::string {
    const TemporaryFile file(content);
    try {
      find_format(file.path());
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_NE(told_of(std::string("PAR1\x15\x04\x15\x10", 8)).find(": is a Parquet file, allowed are"),
            std::string::npos);
  EXPECT_NE(told_of("PK\x03\x04\x14").find("a ZIP archive or an Excel file"), std::string::npos);
  EXPECT_NE(told_of("BZh91AY&SY").find("is packed with bzip2"), std::string::npos);
  for (const char* text : {"PAR1,x\n1,2\n", "PK,x\n1,2\n", "BZh9\n1\n", "", "P"}) EXPECT_EQ(told_of(text), "") << text;
}

TEST(FileFormat, HasANameEach) {
  for (const auto format : {FileFormat::kAuto, FileFormat::kCsv, FileFormat::kIdx, FileFormat::kLibsvm}) {
    EXPECT_EQ(parse_name<FileFormat>(to_string(format)), format);
  }
  EXPECT_THROW(parse_name<FileFormat>("hdf5"), InputError);
}

}  // namespace
}  // namespace podere::io
