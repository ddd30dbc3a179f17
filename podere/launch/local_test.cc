#include "podere/launch/local.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "podere/base/error.h"

namespace podere::launch {
namespace {

std::string variable(const CommandLine& command, const std::string& name) {
  const auto found = std::ranges::find(command.environment, name, &std::pair<std::string, std::string>::first);
  return found == command.environment.end() ? "unset" : found->second;
}

TEST(Local, SeveralExecutorsAreStartedByOneMpirun) {
  const auto command = local(3, {"/opt/podere", "executor"}, "/tmp/own");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"mpirun", "-n", "3", "/opt/podere", "executor"}));
  EXPECT_EQ(variable(command, "OMPI_MCA_rmaps_base_oversubscribe"), "1");
  EXPECT_EQ(variable(command, "OMPI_ALLOW_RUN_AS_ROOT"), "1");
  EXPECT_EQ(variable(command, "OMPI_MCA_orte_tmpdir_base"), "/tmp/own");
}

TEST(Local, OneExecutorNeedsNoMpirun) {
  const auto command = local(1, {"/opt/podere", "executor"}, "/tmp/own");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"/opt/podere", "executor"}));
  EXPECT_EQ(variable(command, "OMPI_MCA_rmaps_base_oversubscribe"), "unset");
}

TEST(Local, RefusesNoExecutors) {
  EXPECT_THROW(local(0, {"x"}, "/tmp"), InputError);
  EXPECT_THROW(local(-2, {"x"}, "/tmp"), InputError);
}

// This test program is an MPI process itself.
TEST(Local, StartsAsManyProcessesAsAskedForEvenFromWithinAnMpiJob) {
  Subprocess group(local(3, {"/bin/sh", "-c", "echo $OMPI_COMM_WORLD_SIZE"}, testing::TempDir()));
  int n_lines = 0;
  while (const auto line = group.next_line(20'000)) {
    EXPECT_EQ(line->text, "3");
    ++n_lines;
  }
  EXPECT_EQ(n_lines, 3);
  EXPECT_EQ(group.wait(10'000), 0);
}

TEST(SessionFolder, IsRefusedWhereMpirunCouldNotWork) {
  for (const int n_executors : {1, 2}) {
    EXPECT_NO_THROW(check_session_folder(testing::TempDir(), n_executors));
    for (const char* folder : {"/no/such/folder", "/dev/null", "/proc"}) {
      try {
        check_session_folder(folder, n_executors);
        ADD_FAILURE() << folder;
      } catch (const InputError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with(std::string("temporary folder ") + folder)) << error.what();
      }
    }
  }
}

TEST(FindMpirun, SaysHowToGetItWhenItIsNotThere) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  try {
    find_mpirun();
    ADD_FAILURE() << "found mpirun in /nowhere";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("openmpi-bin"), std::string::npos);
  }
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace podere::launch
