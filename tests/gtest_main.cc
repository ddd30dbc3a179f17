// main() of all test programs. Under mpirun every rank runs the same tests; ranks above 0 print failures only.
#include <gtest/gtest.h>

#include <algorithm>

#include "podere/comm/communicator.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const podere::comm::Environment environment;
  const auto world = podere::comm::Communicator::world();
  if (!world.is_root()) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    class FailurePrinter : public testing::EmptyTestEventListener {
      void OnTestPartResult(const testing::TestPartResult& result) override {
        if (result.failed())
          std::fprintf(stderr, "%s:%d: %s\n", result.file_name(), result.line_number(), result.message());
      }
    };
    listeners.Append(new FailurePrinter);
  }
  return world.all_reduce(RUN_ALL_TESTS(), podere::comm::Reduction::kMax);
}
