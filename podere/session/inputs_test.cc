#include "podere/session/inputs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/jobs/describe_job.h"

namespace podere::session {
namespace {

TEST(Inputs, IncludeTheLabelsOfAnIdxFile) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto write = [&](const std::string& name, const std::string& bytes) {
    const std::string path = folder.path() / name;
    std::ofstream(path) << bytes;
    return path;
  };
  using std::string_literals::operator""s;
  const std::string images = write("x-images-idx3-ubyte", "\0\0\x08\3\0\0\0\1\0\0\0\1\0\0\0\1\7"s);
  const std::string labels = "\0\0\x08\1\0\0\0\1\5"s;
  write("x-labels-idx1-ubyte", labels);
  const Inputs inputs(jobs::DescribeJob{{images, {}}});
  EXPECT_TRUE(inputs.are_unchanged());
  write("x-labels-idx1-ubyte", labels + "x");
  EXPECT_FALSE(inputs.are_unchanged());
  EXPECT_THROW(inputs.check_unchanged(), InputError);
}

}  // namespace
}  // namespace podere::session
