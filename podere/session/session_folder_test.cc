#include "podere/session/session_folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::session {
namespace {

class SessionPlaceTest : public testing::Test {
 protected:
  SessionPlaceTest() { setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1); }
  ~SessionPlaceTest() override { unsetenv("XDG_RUNTIME_DIR"); }
  const TemporaryFolder folder{testing::TempDir()};
};

TEST_F(SessionPlaceTest, IsLockedOnceAndFoundByItsName) {
  SessionPlace place("s");
  EXPECT_TRUE(sessions().empty());
  place.take();
  EXPECT_EQ(sessions(), (std::vector<std::string>{"s"}));
  EXPECT_TRUE(SessionPlace("s").is_taken_by_another());
  EXPECT_FALSE(SessionPlace("t").is_taken_by_another());
  EXPECT_THROW(SessionPlace("s").take(), InputError);
}

TEST_F(SessionPlaceTest, NamesThatLeadElsewhereAreRefused) {
  for (const char* name : {"", ".", "..", "a/b", "a b"}) EXPECT_THROW(SessionPlace{name}, InputError) << name;
  EXPECT_THROW(SessionPlace(std::string(41, 'x')), InputError);
}

TEST_F(SessionPlaceTest, LookingWhileItGoesLeavesNothingAndTakesNothing) {
  std::atomic<bool> is_over = false;
  std::thread looker([&] {
    while (!is_over) {
      SessionPlace("s").is_taken_by_another();
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (int i = 0; i < 300; ++i) EXPECT_NO_THROW(SessionPlace("s").take());
  is_over = true;
  looker.join();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "podere"));
}

}  // namespace
}  // namespace podere::session
