#include "podere/launch/words.h"

#include <gtest/gtest.h>

namespace podere::launch {
namespace {

TEST(Words, NameTheExecutorThatWasKilled) {
  EXPECT_EQ(find_loss({"----", "mpirun noticed that process rank 3 with PID 7 on node n exited on signal 9 (Killed)."}),
            (Loss{"executor 3", "killed by signal 9"}));
  EXPECT_EQ(find_loss({"srun: error: node7: task 2: Killed", "srun: launch/slurm: _step_signal: Terminating StepId=1.0",
                       "srun: error: node7: tasks 0-1: Terminated"}),
            (Loss{"executor 2", "killed by signal 9"}));
  EXPECT_EQ(find_loss({"srun: error: node7: tasks 0-1: Terminated",
                       "srun: error: node7: task 12: Segmentation fault (core dumped)"}),
            (Loss{"executor 12", "killed by signal 11"}));
}

TEST(Words, NameTheHostThatWent) {
  EXPECT_EQ(find_loss({"ORTE has lost communication with a remote daemon.", "",
                       "  HNP daemon   : [[30873,0],0] on node head", "  Remote daemon: [[30873,0],2] on node south"}),
            (Loss{"host south", "it does not answer"}));
  EXPECT_EQ(find_loss({"srun: error: Node failure on node7"}), (Loss{"host node7", "node failure"}));
}

TEST(Words, OfAnotherKindMeanNoLoss) {
  EXPECT_EQ(find_loss({}), std::nullopt);
  EXPECT_EQ(find_loss({"out of paper", "srun: error: node7: task 2: Exited with exit code 1"}), std::nullopt);
}

TEST(Words, ThatEndAGroup) {
  EXPECT_TRUE(reports_the_end("mpirun noticed that process rank 3"));
  EXPECT_TRUE(reports_the_end("ORTE has lost communication with a remote daemon."));
  EXPECT_FALSE(reports_the_end("I wonder what mpirun noticed"));
}

TEST(Words, OfAnEndWithoutAnExplanation) {
  const std::deque<std::string> ended = {"-----", "Primary job  terminated normally, but 1 process returned",
                                         "a non-zero exit code. Per user-direction, the job has been aborted.",
                                         "-----"};
  EXPECT_TRUE(reports_a_silent_end(ended));
  std::deque<std::string> explained = ended;
  explained.push_front("podere: no such library");
  EXPECT_FALSE(reports_a_silent_end(explained));
  EXPECT_FALSE(reports_a_silent_end({}));
}

TEST(Words, OfOpenMpiThatSrunGaveNothing) {
  EXPECT_TRUE(reports_no_group({"[node7:1] OPAL ERROR: Unreachable in file ext3x_client.c at line 112", "-----",
                                "The application appears to have been direct launched using \"srun\","}));
  EXPECT_FALSE(reports_no_group({"srun: error: something else"}));
}

TEST(Words, SaidFirstAreTheCause) {
  EXPECT_EQ(first_words({}), "");
  EXPECT_EQ(first_words({"", "-----"}), "");
  const std::string aside =
      "[vm:39] plm:rsh: Warning: setpgid(41,41) failed in parent with errno=Permission denied(13)";
  EXPECT_EQ(first_words({aside, "-----", "Executable: podere"}), "Executable: podere");
  EXPECT_EQ(first_words({aside}), "");
  EXPECT_EQ(last_words({"out of paper", aside}), "out of paper");
  EXPECT_EQ(first_words({"ssh: connect to host a port 22: Connection timed out\r", "-----", "ORTE was unable"}),
            "ssh: connect to host a port 22: Connection timed out");
  EXPECT_EQ(first_words({"-----", "mpirun was unable to launch as it could not access", "or execute an executable:", "",
                         "Executable: /opt/podere", "Node: south", "", "while attempting to start process rank 0.",
                         "-----", "2 total processes failed to start"}),
            "mpirun was unable to launch as it could not access or execute an executable: Executable: /opt/podere "
            "Node: south");
}

TEST(Words, SaidLastAreNoRule) {
  EXPECT_EQ(last_words({"first", "last", "-----", ""}), "last");
  EXPECT_EQ(last_words({"-----"}), "");
}

}  // namespace
}  // namespace podere::launch
