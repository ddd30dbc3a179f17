#include "podere/base/read_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

TEST(ReadFile, GivesAllBytes) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  for (const std::string& text : {std::string(), std::string("a\0\r\n\xff", 5), std::string(1 << 20, 'x')}) {
    std::ofstream(folder.path() / "f", std::ios::binary) << text;
    EXPECT_EQ(read_file(folder.path() / "f"), text);
  }
  EXPECT_THROW(read_file(folder.path() / "none"), InputError);
  EXPECT_THROW(read_file(folder.path()), InputError) << "of a folder";
}

}  // namespace
}  // namespace podere
