#include "podere/base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

// FIPS 180-4, examples.
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256_of("abc"), kOfAbc);
  EXPECT_EQ(sha256_of(""), kOfNothing);
}

TEST(Sha256, OfAFileIsThatOfItsContent) {
  const TemporaryFolder folder(std::filesystem::temp_directory_path());
  const auto path = folder.path() / "file";
  std::ofstream(path) << "";
  EXPECT_EQ(sha256_of_file(path), kOfNothing);
  const std::string large(5000000, 'x');
  std::ofstream(path) << large;
  EXPECT_EQ(sha256_of_file(path), sha256_of(large));
  EXPECT_THROW(sha256_of_file(folder.path() / "none"), InputError);
}

}  // namespace
}  // namespace podere
