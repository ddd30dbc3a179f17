#include "podere/base/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

#include "podere/base/error.h"

namespace podere {
namespace {

CommandLine shell(const std::string& script) { return {{"sh", "-c", script}}; }

std::string next(Subprocess& process) {
  const auto line = process.next_line(10'000);
  return line ? line->text : "nothing";
}

bool is_running(pid_t pid) { return kill(pid, 0) == 0; }

/// Waits for the end of a process that init or a sub-reaper has to collect.
bool ends_soon(pid_t pid) {
  for (int i = 0; i < 500 && is_running(pid); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return !is_running(pid);
}

TEST(Subprocess, AnswersWhatItIsSent) {
  Subprocess process(shell("while read line; do echo \"got $line\"; done"));
  EXPECT_TRUE(process.send_line("one"));
  EXPECT_EQ(next(process), "got one");
  EXPECT_TRUE(process.send_line("two"));
  EXPECT_EQ(next(process), "got two");
  process.close_input();
  EXPECT_EQ(process.next_line(10'000), std::nullopt);
  EXPECT_TRUE(process.streams_ended());
  EXPECT_EQ(process.wait(10'000), 0);
}

TEST(Subprocess, KeepsItsTwoStreamsApart) {
  Subprocess process(shell("echo out; sleep 0.2; echo err >&2"));
  const auto first = process.next_line(10'000);
  const auto second = process.next_line(10'000);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->stream, Subprocess::Stream::kOutput);
  EXPECT_EQ(second->stream, Subprocess::Stream::kError);
  EXPECT_EQ(second->text, "err");
}

TEST(Subprocess, GivesALastLineWithoutANewline) {
  Subprocess process(shell("printf 'a\\n\\nb'"));
  EXPECT_EQ(next(process), "a");
  EXPECT_EQ(next(process), "");
  EXPECT_EQ(next(process), "b");
  EXPECT_EQ(process.next_line(10'000), std::nullopt);
}

TEST(Subprocess, CarriesLinesFarLongerThanAPipe) {
  Subprocess process(shell("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end"));
  EXPECT_EQ(next(process), std::string(3'000'000, 'x'));
  EXPECT_EQ(next(process), "end");
}

TEST(Subprocess, ReturnsNothingWhenTheTimeIsUp) {
  Subprocess process(shell("sleep 20"));
  EXPECT_EQ(process.next_line(20), std::nullopt);
  EXPECT_FALSE(process.streams_ended());
  EXPECT_EQ(process.wait(20), std::nullopt);
}

TEST(Subprocess, HasTheVariablesItWasGivenOnTopOfOurs) {
  setenv("PODERE_TEST_ONE", "ours", 1);
  setenv("PODERE_TEST_TWO", "ours", 1);
  Subprocess process(
      {.argv = {"sh", "-c", "echo $PODERE_TEST_ONE $PODERE_TEST_TWO"}, .environment = {{"PODERE_TEST_TWO", "given"}}});
  EXPECT_EQ(next(process), "ours given");
}

TEST(Subprocess, LacksTheVariablesThatWereRemoved) {
  setenv("PODERE_TEST_ONE", "ours", 1);
  setenv("PODERE_TEST_TWO", "ours", 1);
  Subprocess process({.argv = {"sh", "-c", "echo ${PODERE_TEST_ONE-none} ${PODERE_TEST_TWO-none}"},
                      .environment = {{"PODERE_TEST_TWO", "given"}},
                      .without = {"PODERE_TEST_"}});
  EXPECT_EQ(next(process), "none given");
}

TEST(Subprocess, ReportsExitCodesAndSignalsAsAShellDoes) {
  EXPECT_EQ(Subprocess(shell("exit 7")).wait(10'000), 7);
  EXPECT_EQ(Subprocess(shell("kill -9 $$")).wait(10'000), 128 + 9);
}

TEST(Subprocess, SendingToOneThatIsGoneFailsWithoutASignal) {
  Subprocess process(shell("exit 0"));
  ASSERT_EQ(process.wait(10'000), 0);
  EXPECT_FALSE(process.send_line("anyone?"));
}

TEST(Subprocess, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(Subprocess({{"podere-no-such-program"}}), Error);
  EXPECT_THROW(Subprocess({{"/dev/null"}}), Error);
}

TEST(Subprocess, GoesWithItsWholeGroup) {
  pid_t child = 0;
  {
    Subprocess process(shell("sleep 100 & echo $!; wait"));
    child = std::stoi(next(process));
    EXPECT_TRUE(is_running(child));
  }
  EXPECT_TRUE(ends_soon(child));
}

TEST(Subprocess, IsKilledWhenItDoesNotListenToTerm) {
  Subprocess process(shell("trap '' TERM; echo ready; while :; do sleep 0.05; done"));
  ASSERT_EQ(next(process), "ready");
  process.terminate(100);
  EXPECT_EQ(process.wait(0), 128 + 9);
}

TEST(Subprocess, DoesNotShareOurProcessGroup) {
  Subprocess process(shell("sleep 20"));
  EXPECT_EQ(getpgid(process.pid()), process.pid());
}

TEST(FindProgram, LooksInPathUnlessThereIsASlash) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("podere-no-such-program"), std::nullopt);
}

}  // namespace
}  // namespace podere
