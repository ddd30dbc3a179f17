#include "podere/kube/time.h"

#include <gtest/gtest.h>

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

TEST(Time, IsReadAsItIsWritten) {
  const Time time = std::chrono::sys_days(std::chrono::year(2026) / 2 / 28) + 23h + 5min + 9s + 120us;
  EXPECT_EQ(to_text(time), "2026-02-28T23:05:09Z");
  EXPECT_EQ(to_text_with_micros(time), "2026-02-28T23:05:09.000120Z");
  EXPECT_EQ(time_from_text(to_text_with_micros(time)), time);
  EXPECT_EQ(time_from_text(to_text(time)), time - 120us);
}

TEST(Time, TakesOffsetsAndFractions) {
  const Time noon = std::chrono::sys_days(std::chrono::year(2024) / 2 / 29) + 12h;
  EXPECT_EQ(time_from_text("2024-02-29T13:30:00+01:30"), noon);
  EXPECT_EQ(time_from_text("2024-02-29T04:00:00.5-08:00"), noon + 500ms);
  EXPECT_EQ(time_from_text("2024-02-29t12:00:00.0000000000009z"), noon);
}

TEST(Time, IsNothingElse) {
  for (const char* const text :
       {"", "2024", "2023-02-29T00:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T12:60:00Z", "2024-02-29 12:00:00Z",
        "2024-02-29T12:00:00", "2024-02-29T12:00:00Zx", "2024-02-29T12:00:00.Z", "2024-02-29T12:00:00+1",
        "-024-02-29T12:00:00Z", "2024-+2-29T12:00:00Z", "9999-01-01T00:00:00Z", "1066-10-14T00:00:00Z"}) {
    EXPECT_EQ(time_from_text(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace podere::kube
