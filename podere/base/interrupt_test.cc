#include "podere/base/interrupt.h"

#include <gtest/gtest.h>

#include <csignal>

namespace podere {
namespace {

TEST(Interrupts, AreCountedButForSignalsThatAreIgnored) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);
  count_interrupts();
  const int before = interrupts();
  std::raise(SIGINT);
  std::raise(SIGTERM);
  EXPECT_EQ(interrupts(), before + 2);
  std::raise(SIGHUP);
  EXPECT_EQ(interrupts(), before + 2);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
}

}  // namespace
}  // namespace podere
