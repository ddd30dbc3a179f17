#include "podere/base/cannot_read.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

std::string why_not(const std::filesystem::path& path) {
  try {
    throw_cannot_read(path);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(CannotRead, SaysWhyAsTheSystemDoes) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const std::string here = folder.path().string();
  EXPECT_EQ(why_not(folder.path() / "none.onnx"), here + "/none.onnx: cannot be read: No such file or directory");
  EXPECT_EQ(why_not(folder.path()), here + ": cannot be read: Is a directory");
  EXPECT_EQ(why_not(folder.path() / std::string(300, 'x')).find(": cannot be read: File name too long"),
            here.size() + 301);
  EXPECT_EQ(why_not(""), ": cannot be read: No such file or directory");
}

TEST(CannotRead, SaysNoMoreOfAFileThatCanBeReadNow) { EXPECT_EQ(why_not("/dev/null"), "/dev/null: cannot be read"); }

}  // namespace
}  // namespace podere
