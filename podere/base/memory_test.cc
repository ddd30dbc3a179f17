#include "podere/base/memory.h"

#include <gtest/gtest.h>

#include "podere/base/machine.h"

namespace podere {
namespace {

TEST(Memory, WhatIsAvailableIsSomeOfWhatTheMachineHas) {
  const auto available = available_memory_bytes();
  ASSERT_TRUE(available);
  EXPECT_GT(*available, peak_memory_bytes());
  EXPECT_LT(*available, this_machine().memory_bytes);
}

}  // namespace
}  // namespace podere
