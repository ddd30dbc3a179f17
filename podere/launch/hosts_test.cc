#include "podere/launch/hosts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "podere/base/error.h"

namespace podere::launch {
namespace {

const std::vector<Host> kHosts = {{"north", 2}, {"south", 1}};

CommandLine command(int n_executors, const std::string& ssh = "ssh") {
  return on_hosts(n_executors, {"/opt/podere", "executor"}, kHosts, ssh, "/tmp/own", "hosts.txt");
}

TEST(Hosts, AreReachedByOneMpirun) {
  EXPECT_EQ(command(3).argv, (std::vector<std::string>{"mpirun", "-n", "3", "--map-by", "node", "--host",
                                                       "north:2,south:1", "/opt/podere", "executor"}));
}

TEST(Hosts, AreNeverAskedForAPassword) {
  const auto environment = command(1, "ssh -F own").environment;
  const std::pair<std::string, std::string> agent = {"OMPI_MCA_plm_rsh_agent",
                                                     "ssh -F own -o BatchMode=yes -o ConnectTimeout=10"};
  EXPECT_NE(std::ranges::find(environment, agent), environment.end());
}

TEST(Hosts, TakeNoMoreExecutorsThanTheyHaveSlots) {
  EXPECT_THROW(command(0), InputError);
  try {
    command(4);
    ADD_FAILURE() << "took 4";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "4 executors: the hosts of hosts.txt have 3 slots in all");
  }
}

// The program in the place of ssh gets its options, the name and "true".
TEST(Hosts, ThatDoNotAnswerAreLeftOut) {
  EXPECT_EQ(answering(kHosts, "true"), kHosts);
  EXPECT_EQ(answering(kHosts, "false"), std::vector<Host>{});
  EXPECT_EQ(answering({{"north", 2}, {"localhost", 3}}, "false"), (std::vector<Host>{{"localhost", 3}}));
}

TEST(Hosts, NeedSsh) {
  EXPECT_NO_THROW(check_ssh("sh -c x"));
  EXPECT_THROW(check_ssh("no-such-ssh -F own"), InputError);
  EXPECT_THROW(check_ssh(" "), InputError);
}

}  // namespace
}  // namespace podere::launch
