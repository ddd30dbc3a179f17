#include "podere/jobs/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/comm/communicator.h"

namespace podere::jobs {
namespace {

class CheckpointWarnings : public Progress {
 public:
  void warn(const std::string& message) override { texts.push_back(message); }

  std::vector<std::string> texts;
};

TEST(Checkpoint, OnAFullDiskWarnsOnceAndIsTriedEverLessOften) {
  CheckpointWarnings warnings;
  const comm::Communicator alone = comm::Communicator::self();
  Checkpoint checkpoint("/dev/full", 0, alone, warnings);
  int n_tries = 0;
  const auto so_far = [&] {
    ++n_tries;
    return std::string(100, 'm');
  };
  const Stopwatch watch;
  for (int i = 0; i < 1'000'000; ++i) checkpoint.offer(so_far);
  // After 2 s at the earliest, then 4, 8 and so on; this took less, or the machine had other things to do.
  EXPECT_GE(n_tries, 1);
  EXPECT_LE(n_tries, 1 + std::floor(std::log2(1 + watch.seconds() / 2)));
  EXPECT_TRUE(checkpoint.has_failed());

  const int n_before = n_tries;
  checkpoint.offer(so_far, true);  // on request
  EXPECT_EQ(n_tries, n_before + 1);
  EXPECT_EQ(warnings.texts,
            (std::vector<std::string>{"no checkpoint could be written: /dev/full: cannot be written: No space left on "
                                      "device; training continues without"}));
}

}  // namespace
}  // namespace podere::jobs
