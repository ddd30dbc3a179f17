#include "podere/executor/fault.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::executor {
namespace {

TEST(Fault, StrikesTheRankPhaseAndTreeItNamesAndNoOther) {
  EXPECT_THROW(fail_if_asked("read:rank=1", "read", 1, 0), Error);
  EXPECT_THROW(fail_if_asked("train:rank=0:tree=3", "train", 0, 3), Error);
  EXPECT_NO_THROW(fail_if_asked("", "read", 1, 0));
  EXPECT_NO_THROW(fail_if_asked("read:rank=1", "read", 0, 0));
  EXPECT_NO_THROW(fail_if_asked("read:rank=1", "train", 1, 0));
  EXPECT_NO_THROW(fail_if_asked("train:rank=0:tree=3", "train", 0, 4));
}

}  // namespace
}  // namespace podere::executor
