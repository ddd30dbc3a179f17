// main() of all test programs. Under mpirun every rank runs the same tests; ranks above 0 print failures only.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "podere/comm/communicator.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>

// Leaks are looked for before MPI ends and unloads its modules. One of theirs is then known by the module that called
// malloc, and no stack has to be unwound by its tables at each malloc, which took half of the time.
extern "C" const char* __asan_default_options() { return "leak_check_at_exit=0"; }
using LeaksAreNotCounted = __lsan::ScopedDisabler;
static void check_leaks() { __lsan_do_leak_check(); }
#else
struct LeaksAreNotCounted {
  LeaksAreNotCounted() {}
};
static void check_leaks() {}
#endif

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::optional<podere::comm::Environment> environment;
  {
    const LeaksAreNotCounted what_mpi_keeps_of_its_start;
    environment.emplace();
  }
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
  const int result = world.all_reduce(RUN_ALL_TESTS(), podere::comm::Reduction::kMax);
  check_leaks();
  return result;
}
