#include "podere/launch/slurm.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"

namespace podere::launch {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

/// A variable of this process, as it was again afterwards.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    set(value);
  }
  ~Variable() { set(before_.c_str()); }

 private:
  void set(const char* value) { *value != '\0' ? setenv(name_, value, 1) : unsetenv(name_); }
  const char* name_;
  std::string before_;
};

TEST(Slurm, StartsOneStepOfAllExecutors) {
  const auto command = in_allocation(3, 2, {"/opt/podere", "executor"}, " --mem=1G  -v");
  EXPECT_EQ(command.argv, (std::vector<std::string>{"srun", "--mpi=pmix", "--ntasks=3", "--cpus-per-task=2",
                                                    "--input=0", "--kill-on-bad-exit=1", "--overlap", "--mem=1G", "-v",
                                                    "/opt/podere", "executor"}));
  EXPECT_EQ(std::ranges::find(command.without, "SLURM_"), command.without.end());  // srun needs them
}

TEST(Slurm, RefusesWhatIsNoOption) {
  EXPECT_NE(message([] { in_allocation(0, 1, {"x"}, ""); }), "none");
  for (const std::string options : {"gpu", " gpu --mem=1", "--mem=1\n#SBATCH --wrap=x", "  "}) {
    EXPECT_TRUE(message([&] { in_allocation(1, 1, {"x"}, options); }).starts_with("--slurm-options: '")) << options;
    EXPECT_TRUE(message([&] { batch_script({.options = options}); }).starts_with("--slurm-options: '")) << options;
  }
  EXPECT_TRUE(message([] { batch_script({.time = "1\nrm"}); }).starts_with("--time: '"));
}

TEST(Slurm, NeedsAnAllocation) {
  const Variable none("SLURM_JOB_ID", "");
  const std::string text = message(check_allocation);
  EXPECT_NE(text.find("salloc"), std::string::npos);
  EXPECT_NE(text.find("--submit"), std::string::npos);
  const Variable path("PATH", "/nowhere");
  const Variable job("SLURM_JOB_ID", "7");
  EXPECT_EQ(message(check_allocation), "--on slurm: srun was not found in PATH");
  EXPECT_EQ(message([] { submit("x"); }), "--submit: sbatch was not found in PATH");
}

TEST(Slurm, SaysHowManyCoresATaskHas) {
  const Variable two("SLURM_CPUS_PER_TASK", "2");
  EXPECT_EQ(cores_per_task(), 2);
  for (const char* other : {"", "0", "many", "1e15"}) {
    const Variable variable("SLURM_CPUS_PER_TASK", other);
    EXPECT_EQ(cores_per_task(), 1) << other;
  }
}

TEST(Slurm, TakesAScriptThatPeopleCanRead) {
  EXPECT_EQ(batch_script({.name = "podere-train",
                          .n_executors = 4,
                          .cores = 2,
                          .time = "1:00:00",
                          .options = "--partition=gpu --mem=4G",
                          .command = {"/opt/podere", "train", "it's here.csv", "--columns", "a,b", "", "--rows=:9"}}),
            "#!/bin/sh\n"
            "#SBATCH --job-name=podere-train\n"
            "#SBATCH --output=podere-train-%j.log\n"
            "#SBATCH --ntasks=4\n"
            "#SBATCH --cpus-per-task=2\n"
            "#SBATCH --time=1:00:00\n"
            "#SBATCH --partition=gpu --mem=4G\n"
            "\n"
            "exec /opt/podere train 'it'\\''s here.csv' --columns a,b '' --rows=:9\n");
}

class OtherSbatch : public testing::Test {
 protected:
  /// What submit() does where sbatch is these lines of shell.
  std::string with(const std::string& script) {
    const TemporaryFolder folder(testing::TempDir());  // tests run beside each other
    const std::string sbatch = folder.path() / "sbatch";
    std::ofstream(sbatch) << "#!/bin/sh\n" << script;
    chmod(sbatch.c_str(), 0700);
    const Variable path("PATH", (folder.path().string() + ":" + std::getenv("PATH")).c_str());
    std::string id;
    const std::string text = message([&] { id = submit("job.sbatch"); });
    return text == "none" ? id : text;
  }
};

TEST_F(OtherSbatch, GivesTheIdOfTheJob) {
  EXPECT_EQ(with("[ $1 = --parsable ] && echo 4711"), "4711");
  EXPECT_EQ(with("echo 'sbatch: by the way' >&2; echo '4711;cluster'"), "4711");
}

TEST_F(OtherSbatch, IsQuotedIfItRefuses) {
  EXPECT_EQ(with("echo 'sbatch: error: no such partition' >&2; echo 'sbatch: error: failed' >&2; exit 1"),
            "--submit: sbatch: no such partition; failed");
  EXPECT_EQ(with("exit 1"), "--submit: sbatch: it failed without a word");
  EXPECT_EQ(with("echo hello"), "--submit: sbatch: it failed without a word");
}

}  // namespace
}  // namespace podere::launch
