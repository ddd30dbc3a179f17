#include "podere/base/file_traffic.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

void compute_for(double seconds) {
  const Stopwatch watch;
  volatile double x = 1;
  while (watch.seconds() < seconds) x = x * 1.000001;
}

TEST(FileTraffic, CountsBytesAndTheTimeOfCallsByTheirKind) {
  const FileTraffic before = file_traffic();
  {
    CountedFileCall call(CountedFileCall::Kind::kRead);
    call.add(30);
    call.add(12);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  { CountedFileCall(CountedFileCall::Kind::kWrite).add(5); }
  const FileTraffic after = file_traffic();
  EXPECT_EQ(after.bytes_read - before.bytes_read, 42U);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 5U);
  EXPECT_GE(after.read_seconds - before.read_seconds, 0.02);
  EXPECT_LT(after.write_seconds - before.write_seconds, 0.02);
}

TEST(FileTraffic, DecodingIsWhatIsComputedBesidesReading) {
  const double before = file_traffic().decode_seconds;
  double computed = 0;
  {
    const DecodeTime decoding;
    compute_for(0.03);
    computed = 0.03;
    const CountedFileCall call(CountedFileCall::Kind::kRead);
    compute_for(0.2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const double decoded = file_traffic().decode_seconds - before;
  EXPECT_GT(decoded, 0);
  EXPECT_LE(decoded, computed + 0.01) << "what was computed while reading does not count";
}

TEST(FileTraffic, OfSeveralThreadsAddsUp) {
  const FileTraffic before = file_traffic();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n) CountedFileCall(CountedFileCall::Kind::kRead).add(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(file_traffic().bytes_read - before.bytes_read, 12000U);
}

TEST(FileTraffic, FilesThatAreWrittenCount) {
  const TemporaryFolder folder(testing::TempDir());
  const FileTraffic before = file_traffic();
  AtomicFile file(folder.path() / "x");
  file.write("1234567");
  file.commit();
  write_into(folder.path() / "x", 5, "abc");
  EXPECT_EQ(file_traffic().bytes_written - before.bytes_written, 10U);
}

}  // namespace
}  // namespace podere
